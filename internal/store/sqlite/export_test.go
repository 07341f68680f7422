package sqlite

import "database/sql/driver"

// WithWrap returns options under which wrap stands between the store and the driver.
func WithWrap(o Options, wrap func(driver.Conn) driver.Conn) Options {
	o.wrap = wrap
	return o
}
