package embedded

import (
	"time"

	"interlock"
	"interlock/internal/config"
	"interlock/internal/notify"
)

// Channels makes what takes codes to humans from the settings. Secrets are read from where they are referred to, now.
func Channels(c config.Config) (*notify.Notifier, error) {
	var channels []notify.Settings
	for _, s := range c.Channels {
		floor := interlock.TierVerify
		if s.Floor != nil {
			floor = *s.Floor
		}
		channels = append(channels, notify.Settings{Name: s.Name, Kind: s.Kind, Floor: floor, Always: s.Always, URL: s.URL,
			Key: s.Key, Token: s.Token,
			Host: s.Host, TLS: s.TLS, User: s.User, Password: s.Password, From: s.From, To: s.To})
	}
	return notify.New(notify.Config{Channels: channels, Now: time.Now, Quiet: c.QuietHours.Contain})
}
