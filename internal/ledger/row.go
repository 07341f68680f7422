package ledger

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"interlock"
)

// A row says what the values of one kind mean, in their own type. What a kind has no need of is left out.
type row[T any] struct {
	key     func(T) string
	marks   func(T) []Mark     // by which a row is found besides its key
	until   func(T) int64      // of a kind that is swept: when a row is over, in nanoseconds
	binding bool               // every change makes decide again
	binds   func(T) bool       // or one to what is so: decisions that were made before must be made again
	left    func(T) int        // what a [Spend] may take
	stands  func(T) bool       // whether it is part of a [Standing]; nil: whatever has a body is, where its kind is
	into    func(T, *Standing) // where in a standing it is; nil: with the others of its kind
	check   func(T) error      // whether it can be what it says
	decode  func(body []byte) (T, error)
	next    func(was, is T, there bool, now time.Time) error // whether a row may follow another; nil: any may
	owner   owners[T]
}

// owners say whose rows of a kind are, by one of the first three: what a row says, a name of its own for each, or one for all.
type owners[T any] struct {
	of   func(T) string
	each string // and the row's key
	all  string

	key   func(key string) string // whose a row is, by its key alone, where of says it; nil: the row has to be read
	marks markOwners
}

// markOwners say, by the first word of a mark, whose all rows under it are, by what follows; empty: there may be several owners,
// each of whose rows is proved by itself. A mark that has no line here is refused to a caller that loads by it.
type markOwners map[string]func(rest string) string

// several is said of a mark under which rows of more than one owner are found.
func several(string) string { return "" }

// kind completes a kind by what its rows mean.
func (r row[T]) kind(k Kind) Kind {
	k.typed = reflect.TypeFor[T]()
	k.key = func(value any) string { return r.key(value.(T)) }
	k.body.decode = func(body []byte) (any, error) {
		if r.decode != nil {
			return r.decode(body)
		}
		return decode[T](body)
	}
	k.body.about = func(value any) About { return r.about(value.(T)) }
	if r.stands != nil {
		k.body.stands = func(value any) bool { return r.stands(value.(T)) }
	}
	if k.stands {
		k.body.into = func(value any, to *Standing) {
			if v := value.(T); r.into != nil {
				r.into(v, to)
			} else {
				to.other(k.Name, r.key(v), v)
			}
		}
	}
	if r.check != nil {
		k.body.check = func(value any) error { return r.check(value.(T)) }
	}
	if r.next != nil {
		k.next = func(before, after any, now time.Time) error {
			was, there := before.(T)
			is, _ := after.(T)
			return r.next(was, is, there, now)
		}
	}
	return r.owner.kind(k, r.key)
}

func (r row[T]) about(v T) About {
	about := About{Key: r.key(v)}
	switch {
	case r.marks != nil:
		about.Marks = r.marks(v)
	case r.until != nil:
		about.Marks = under(r.until(v), Until)
	}
	about.Binds = r.binding || r.binds != nil && r.binds(v)
	if r.left != nil {
		about.Left = r.left(v)
	}
	return about
}

func (o owners[T]) kind(k Kind, key func(T) string) Kind {
	switch {
	case o.of != nil:
		k.owner, k.keyOwner = func(value any) string { return o.of(value.(T)) }, o.key
		if o.key == nil {
			k.keyOwner = func(string) string { return "" }
		}
	case o.each != "":
		k.owner = func(value any) string { return o.each + key(value.(T)) }
		k.keyOwner = func(key string) string { return o.each + key }
	case o.all != "":
		k.owner, k.keyOwner = func(any) string { return o.all }, func(string) string { return o.all }
	}
	k.markOwners = o.marks
	return k
}

// first is what is before the first NUL of a key.
func first(key string) string {
	name, _, _ := strings.Cut(key, "\x00")
	return name
}

// OwnerOf is the one owner of every row that a ref can name, if there is one: then nothing of what it names can be missing
// without being missed. It is empty where the rows have to be read to know, and then each is proved by itself. Of a kind or a
// mark that has said nothing of that, nothing is believed.
func (b Book) OwnerOf(ref Ref) (string, error) {
	k, known := b.kinds[ref.Kind]
	word, rest, _ := strings.Cut(ref.Mark, "\x00")
	of, said := k.markOwners[word]
	switch {
	case !b.Proved(ref.Kind), known && ref.Key+ref.Mark == "": // which names nothing
		return "", nil
	case known && ref.Key != "" && k.keyOwner != nil:
		return k.keyOwner(ref.Key), nil
	case !known || ref.Key != "" || !said:
		return "", unowned(ref.Kind + " " + ref.Key + ref.Mark)
	}
	return of(rest), nil
}

// additions are the values that are put to a row and are not of its type, by what they are put to.
var additions = []struct {
	typed reflect.Type
	kind  string
	key   func(value any) string
}{
	addition(Failed, func(e Ending) string { return FailedKey(e.Principal, e.Agent) }),
	addition(Recent, func(p Past) string { return p.Run }),
	addition(Tally, func(c Counted) string { return c.Name }),
	addition(Usage, func(s Settling) string { return s.Key }),
	addition(Order, func(g interlock.Grant) string { return g.ID }),
	addition(Order, func(s interlock.Suppression) string { return s.ID }),
}

func addition[T any](kind string, key func(T) string) (one struct {
	typed reflect.Type
	kind  string
	key   func(value any) string
}) {
	one.typed, one.kind, one.key = reflect.TypeFor[T](), kind, func(value any) string { return key(value.(T)) }
	return one
}

// rowOf finds the kind and the key of a value by its type.
var rowOf = sync.OnceValue(func() map[reflect.Type]func(value any) Row {
	rows := map[reflect.Type]func(any) Row{}
	for _, k := range Kinds() {
		if k.typed != nil {
			rows[k.typed] = func(value any) Row { return Row{Kind: k.Name, Key: k.key(value), Value: value} }
		}
	}
	for _, a := range additions {
		rows[a.typed] = func(value any) Row { return Row{Kind: a.kind, Key: a.key(value), Value: value} }
	}
	return rows
})

// Rows are values as rows to write: what a kind holds, or what is put to it, such as one more thing that a run did. Encoding them
// is left to the change. Whatever is of no kind is refused there.
func Rows(values ...any) []Row {
	rows := make([]Row, 0, len(values))
	for _, value := range values {
		if row := rowOf()[reflect.TypeOf(value)]; row != nil {
			rows = append(rows, row(value))
		} else {
			rows = append(rows, Row{Value: value})
		}
	}
	return rows
}
