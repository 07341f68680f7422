package embedded

import (
	"errors"
	"time"

	"interlock"
	"interlock/internal/config"
	"interlock/internal/upstream"
)

// Servers makes the servers behind the gateway, in the order in which they are started: those of the settings and, if a client
// is named, those that were moved from its settings. Nothing is started, and no secret is read.
func Servers(c config.Config, client string, o upstream.Options) ([]*upstream.Server, error) {
	configured, err := c.WithClient(client)
	if err != nil {
		return nil, err
	}
	ordered, err := configured.Ordered()
	if err != nil {
		return nil, err
	}
	var servers []*upstream.Server
	for _, s := range ordered {
		made, err := upstream.New(UpstreamConfig(s), o)
		if err != nil {
			return nil, serverError(s.Name, err)
		}
		servers = append(servers, made)
	}
	return servers, nil
}

// UpstreamConfig is a server of the settings as package upstream takes it.
func UpstreamConfig(s config.GatewayServer) upstream.Config {
	return upstream.Config{Name: s.Name, Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, URL: s.URL,
		Headers: s.Headers, CA: s.CA,
		Connect: time.Duration(s.Connect), Stop: time.Duration(s.Stop)}
}

// serverError puts before an error about a server which one it is.
func serverError(name string, err error) error {
	var e *interlock.Error
	if !errors.As(err, &e) {
		return err
	}
	if upstream.ValidName(name) {
		return interlock.Errorf(e.Code, "gateway.servers."+name+"."+e.Field, "%s", e.Message)
	}
	return interlock.Errorf(e.Code, "gateway.servers."+e.Field, "%s", e.Message)
}
