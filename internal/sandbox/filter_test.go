package sandbox

import (
	"fmt"
	"testing"
)

// judge runs the filter on one call, as the kernel would, and returns what it answers.
func judge(t *testing.T, program []instruction, number, arch uint32, arguments ...uint32) uint32 {
	t.Helper()
	data := map[uint32]uint32{offNumber: number, offArch: arch}
	for i, a := range arguments {
		data[uint32(offFirst+8*i)] = a
	}
	a := uint32(0)
	for at := 0; at < len(program); at++ {
		i := program[at]
		jump := func(yes bool) {
			if yes {
				at += int(i.jt)
			} else {
				at += int(i.jf)
			}
		}
		switch i.code {
		case bpfLoad:
			a = data[i.k]
		case bpfEqual:
			jump(a == i.k)
		case bpfAtMost:
			jump(a > i.k)
		case bpfSet:
			jump(a&i.k != 0)
		case bpfReturn:
			return i.k
		default:
			t.Fatalf("instruction %d: code %#x", at, i.code)
		}
	}
	t.Fatal("the filter came to no end")
	return 0
}

func TestFilterOnBothArchitectures(t *testing.T) {
	const perm, nosys, nofamily, notHere = actErrno | errPerm, actErrno | errNoSys, actErrno | errNoFamily, actErrno | errNotHere
	for name, arch := range architectures() {
		for _, sockets := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s sockets=%v", name, sockets), func(t *testing.T) {
				p := filter(arch, sockets)
				want := func(what string, want, number uint32, arguments ...uint32) {
					t.Helper()
					if got := judge(t, p, number, arch.audit, arguments...); got != want {
						t.Errorf("%s: %#x, want %#x", what, got, want)
					}
				}
				for _, call := range denied {
					if number, known := arch.calls[call]; known {
						if number > arch.last {
							want(call, nosys, number)
						} else {
							want(call, perm, number)
						}
					}
				}
				want("clone3", nosys, arch.calls["clone3"])
				want("fallocate", notHere, arch.calls["fallocate"])
				want("clone of a thread", actAllow, arch.calls["clone"], 0x3d0f00)
				for _, flag := range []uint32{0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000} {
					want(fmt.Sprintf("clone with %#x", flag), perm, arch.calls["clone"], flag|17)
				}
				want("TIOCSTI", perm, arch.calls["ioctl"], 0, 0x5412)
				want("TIOCLINUX", perm, arch.calls["ioctl"], 0, 0x541c)
				want("TCGETS", actAllow, arch.calls["ioctl"], 0, 0x5401)
				unix := uint32(nofamily)
				if sockets {
					unix = actAllow
				}
				for family, answer := range map[uint32]uint32{1: unix, 2: actAllow, 10: actAllow, 16: actAllow, 17: nofamily,
					38: nofamily, 40: nofamily, 0: nofamily} {
					want(fmt.Sprintf("socket of family %d", family), answer, arch.calls["socket"], family)
				}
				want("a call of tomorrow", nosys, arch.last+1)
				want("the newest known call", actAllow, arch.last)
				want("read", actAllow, 63)
				if got := judge(t, p, 0, 0x40000003); got != actKill {
					t.Errorf("a call of i386: %#x", got)
				}
				if arch.foreign != 0 {
					want("a call of x32", actKill, arch.foreign|1)
				}
			})
		}
	}
}

func TestFilterRefusesWhatItDoesNotKnow(t *testing.T) {
	if _, err := filterFor("riscv64", false); err == nil {
		t.Error("there is a filter for an architecture nobody has looked at")
	}
	program, err := filterFor("amd64", false)
	if err != nil || len(program)%8 != 0 || len(program)/8 > 4096 {
		t.Errorf("%d bytes, %v", len(program), err)
	}
}
