package shell

import "strings"

// gathers reports whether a name in a program adds to something that is kept: it puts an item to a list, a text to a
// text, or what is written into a file. In a loop without an end that fills the memory or the disk.
func gathers(whole, last, rest string) bool {
	switch last {
	case "push", "unshift", "array_push", "array_unshift", "append", "fwrite", "fputs", "file_put_contents", "concat":
		return true
	case "insert":
		return whole == "table.insert" || whole != last
	case "write", "puts", "print", "printf", "say":
		return toFile(whole, last, rest)
	}
	if after, ok := strings.CutPrefix(rest, "["); ok {
		return nextItem(after)
	}
	for _, operator := range [...]string{"<<", ".="} {
		if after, ok := strings.CutPrefix(rest, operator); ok {
			return operator == ".=" || strings.HasPrefix(after, " ") || strings.HasPrefix(after, "\"")
		}
	}
	after, assigned := strings.CutPrefix(rest, "=") // @a = (@a, …)
	after = strings.TrimLeft(after, " ")
	return assigned && strings.HasPrefix(after, "(@"+last+",")
}

// nextItem reports whether the index of an item that is assigned is another one every time: none, one that is counted
// up, the length.
func nextItem(after string) bool {
	index, then, closed := strings.Cut(after, "]")
	then = strings.TrimLeft(then, " ")
	if !closed || !strings.HasPrefix(then, "=") || strings.HasPrefix(then, "==") || strings.HasPrefix(then, "=~") {
		return false
	}
	return index == "" || strings.Contains(index, "++") || strings.HasPrefix(index, "#") || strings.Contains(index, "length(")
}

// toFile reports whether what is printed goes into a file: one that is opened, a handle, or one a redirection in the
// program names.
func toFile(whole, last, rest string) bool {
	low := strings.ToLower(whole)
	if strings.Contains(low, "stdout") || strings.Contains(low, "stderr") || low == "io.write" || low == "process.stdout.write" {
		return false
	}
	if whole != last { // f.write, f.puts, f:write
		return true
	}
	statement := rest
	if end := strings.IndexAny(rest, ";}\n"); end >= 0 {
		statement = rest[:end]
	}
	if _, target, ok := strings.Cut(statement, ">"); ok && last == "print" || ok && last == "printf" {
		target = strings.TrimLeft(target, "> ")
		return !strings.HasPrefix(target, "\"/dev/") && strings.HasPrefix(target, "\"")
	}
	n := 0
	for n < len(statement) && (statement[n] >= 'A' && statement[n] <= 'Z' || statement[n] == '_') {
		n++
	}
	handle := statement[:n]
	return n > 0 && handle != "STDOUT" && handle != "STDERR" && strings.HasPrefix(statement[n:], " ") &&
		!strings.HasPrefix(strings.TrimLeft(statement[n:], " "), ",") || strings.HasPrefix(statement, "{$") ||
		strings.HasPrefix(statement, "$fh ")
}
