package program

// A codeNodeKind is a kind of node of a program's tree. It has the same shape for Python and JavaScript, and holds
// what matters for what a program does: names, values, calls, and which code runs when.
type codeNodeKind uint8

const (
	nodeUnknown       codeNodeKind = iota
	nodeName                       // text
	nodeText                       // text
	nodeNumber                     // text
	nodeJoin                       // pieces of a string
	nodeAttr                       // of[0].text
	nodeIndex                      // of[0][of[1:]]
	nodeCall                       // of[0](of[1:])
	nodeKeyword                    // text=of[0], as an argument
	nodeSpread                     // *of[0], **of[0], ...of[0]
	nodeList                       // list, tuple, set, array
	nodeTable                      // dict, object: pairs, spreads
	nodePair                       // of[0]: of[1]
	nodeSequence                   // of, whose last one is the value
	nodeBinary                     // of joined by the operator text
	nodeOther                      // of, whose value is not known
	nodeChoice                     // any of of
	nodeFunction                   // function
	nodeClass                      // function.name, of are the bases, function.body the members
	nodeAssign                     // of[0] = of[1]; text is the operator before the sign
	nodeBlock                      // statements
	nodeBranch                     // of may or may not be done
	nodeLoop                       // of[0] is repeated; text is "endless" if nothing in its head ends it
	nodeEach                       // for of[0] in of[1]: of[2]; text "values" or "keys"
	nodeComprehension              // of[0] for each of of[1:]; those are nodeEach without a body, or conditions
	nodeImport                     // names
	nodeReturn                     // of
	nodeLeave                      // break, raise, throw, and what ends a loop otherwise; of are its expressions
	nodeGlobal                     // names that belong to the module
)

// A codeNode is a node of the tree.
type codeNode struct {
	kind     codeNodeKind
	deep     uint16 // height of the tree below
	text     string
	of       []*codeNode
	function *codeFunction
	names    []codeImported
}

// A codeFunction is a function, method or lambda, or a class.
type codeFunction struct {
	name       string
	params     []codeParam
	body       *codeNode
	static     bool // a method without an object
	runs       int
	active     bool
	acts       bool // it calls what the table knows
	noted      bool // it is in the list of those that are run in any case
	last       codeValue
	expression bool // the body is an expression, whose value is returned
}

// A codeParam is a parameter with its default. A pattern takes an argument apart.
type codeParam struct {
	name     string
	pattern  *codeNode
	fallback *codeNode
	rest     bool // takes all that follow
	table    bool // takes all keywords
}

// A codeImported is a name that an import binds.
type codeImported struct{ local, full string }

const (
	maxCodeHeight  = 300 // of a tree; what is higher is cut and read on its own
	maxCodeNesting = 150 // of the parser; what is nested deeper is skipped over token by token
)

// leaf makes a node without children. Nodes are made by the hundred: a program has thousands, and all go together.
func (p *codeParser) leaf(kind codeNodeKind, text string) *codeNode {
	if len(p.slab) == 0 {
		p.slab = make([]codeNode, min(128, len(p.tokens)+2)) // a part of a string is short
	}
	n := &p.slab[0]
	p.slab = p.slab[1:]
	n.kind, n.text = kind, text
	return n
}

// node makes a node. A tree that gets too high is cut: the part below is kept to be read on its own.
func (p *codeParser) node(kind codeNodeKind, text string, of ...*codeNode) *codeNode {
	n := p.leaf(kind, text)
	n.of = of
	for i, child := range of {
		if child == nil {
			of[i] = &codeNode{}
			continue
		}
		if child.deep >= maxCodeHeight {
			p.cut = append(p.cut, child)
			of[i] = &codeNode{}
			continue
		}
		n.deep = max(n.deep, child.deep+1)
	}
	return n
}
