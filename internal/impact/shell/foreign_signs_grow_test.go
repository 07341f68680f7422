package shell_test

import (
	"testing"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/impacttest"
)

// TestLoopsThatFill: a loop without an end that keeps adding to a list, a text or a file is a bomb in every language;
// one that ends, waits for input or only prints is none.
func TestLoopsThatFill(t *testing.T) {
	for _, c := range []struct {
		line string
		bomb bool
	}{
		{`perl -e 'while(1){push @a,"x"x1000000}'`, true}, {`perl -e '$x.="a"x1e6 while 1'`, true},
		{`perl -e 'open F,">f"; print F "x"x1e6 while 1'`, true}, {`perl -e '@a=(@a,1..9) while 1'`, true},
		{`ruby -e 'a=[]; loop { a << "x"*1000000 }'`, true},
		{`ruby -e 'File.open("f","w"){|f| loop { f.write("x"*1000000) } }'`, true},
		{`awk 'BEGIN{while(1) print "x" > "f"}'`, true}, {`awk 'BEGIN{for(;;) a[i++]=i}'`, true},
		{`awk 'BEGIN{while(1) s=s s}'`, true},
		{`lua -e 't={} while true do t[#t+1]=string.rep("x",1e6) end'`, true},
		{`php -r 'while(1) $a[]=str_repeat("x",1000000);'`, true},
		{`php -r 'for(;;) file_put_contents("f","x",FILE_APPEND);'`, true},
		{`perl -e 'while(<>){push @a,$_}' list.txt`, false}, {`perl -e 'while(1){ last if $i++>10; push @a,$i }'`, false},
		{`perl -e 'while(1){ print "x\n" }' | head -3`, false}, {`ruby -e '10.times{|i| a << i}'`, false},
		{`awk '{a[i++]=$0} END{print i}' list.txt`, false}, {`lua -e 'for i=1,10 do t[#t+1]=i end'`, false},
		{`php -r 'foreach(range(1,10) as $i) $a[]=$i;'`, false}, {`ruby -e 'loop { line=gets; a << line }'`, false},
	} {
		impacts := impacttest.Analyse(t, impacttest.Source(interlock.KindShell, c.line))
		bomb := impacttest.AnyImpact(impacts,
			func(i interlock.Impact) bool { return fact.HasTrait(i.Traits, fact.TraitBomb) })
		if bomb != c.bomb {
			t.Errorf("%s: a bomb %v, want %v: %v", c.line, bomb, c.bomb, impacttest.Briefs(impacts))
		}
	}
}
