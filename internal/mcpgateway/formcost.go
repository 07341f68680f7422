package mcpgateway

import (
	"encoding/json"
	"strconv"
	"strings"
)

// maxFormCost is how many parts a schema has at most once what it refers to stands in the place of each reference: so much is looked at for
// each part of an argument.
const maxFormCost = 5000

// A formCost counts the parts of a schema that a server sent. A schema that refers to itself could be looked at without an end, and one that
// refers to the same twice, again and again, for longer than anybody waits.
type formCost struct {
	root any
	cost map[string]int // by where it is; 0: it is being counted
}

// bounded reports whether a schema can be held against arguments: it refers to parts of itself only, never to one that it is within, and stays
// small when those are written out.
func bounded(schema json.RawMessage) bool {
	c := formCost{cost: map[string]int{}}
	if err := json.Unmarshal(schema, &c.root); err != nil {
		return false
	}
	_, ok := c.at("#", c.root)
	return ok
}

// at is the cost of a part, and whether it has one.
func (c *formCost) at(place string, part any) (cost int, ok bool) {
	if known, seen := c.cost[place]; seen {
		return known, known > 0
	}
	c.cost[place] = 0
	cost, ok = 1, true
	add := func(place string, part any) {
		if more, has := c.at(place, part); ok && has {
			cost += more
			ok = cost <= maxFormCost
		} else {
			ok = false
		}
	}
	switch part := part.(type) {
	case []any:
		for i, one := range part {
			add(place+"/"+strconv.Itoa(i), one)
		}
	case map[string]any:
		for name, one := range part { // order-independent: a sum
			switch name {
			case "$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor":
				if place != "#" || name != "$id" {
					return 0, false
				}
			case "$ref":
				to, text := one.(string)
				target, there := c.find(to)
				if !text || !there {
					return 0, false
				}
				add(to, target)
			}
			add(place+"/"+escapePointer(name), one)
		}
	}
	if !ok {
		return 0, false
	}
	c.cost[place] = cost
	return cost, true
}

func escapePointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// find is the part of the schema that a reference names.
func (c *formCost) find(reference string) (part any, there bool) {
	rest, local := strings.CutPrefix(reference, "#")
	if !local || strings.Contains(rest, "%") {
		return nil, false
	}
	part = c.root
	if rest == "" {
		return part, true
	}
	for _, step := range strings.Split(strings.TrimPrefix(rest, "/"), "/") {
		members, object := part.(map[string]any)
		if part, there = members[strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")]; !object || !there {
			return nil, false
		}
	}
	return part, true
}
