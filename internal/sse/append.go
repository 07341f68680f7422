package sse

import "bytes"

// Append writes one event; an empty id or name is left out, and so are empty lines of the data. Both are one line.
func Append(to []byte, id, name string, data []byte) []byte {
	if id != "" {
		to = append(append(append(to, "id: "...), id...), '\n')
	}
	if name != "" {
		to = append(append(append(to, "event: "...), name...), '\n')
	}
	if len(data) == 0 {
		to = append(to, "data: \n"...)
	}
	for len(data) > 0 {
		line := data
		if end := bytes.IndexAny(data, "\r\n"); end >= 0 {
			line, data = data[:end], data[end+1:]
		} else {
			data = nil
		}
		if len(line) > 0 {
			to = append(append(append(to, "data: "...), line...), '\n')
		}
	}
	return append(to, '\n')
}
