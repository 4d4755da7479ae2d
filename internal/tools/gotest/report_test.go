package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const events = `{"Action":"start","Package":"ace/a"}
{"Action":"run","Package":"ace/a","Test":"TestGood"}
{"Action":"output","Package":"ace/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"ace/a","Test":"TestGood","Output":"noise\n"}
{"Action":"pass","Package":"ace/a","Test":"TestGood"}
{"Action":"output","Package":"ace/a","Test":"TestLeft","Output":"=== RUN   TestLeft\n"}
{"Action":"output","Package":"ace/a","Test":"TestLeft","Output":"    a_test.go:7: left out: ACE_SHARED_DIR is not ` +
	`set\n"}
{"Action":"output","Package":"ace/a","Test":"TestLeft","Output":"--- SKIP: TestLeft (0.00s)\n"}
{"Action":"skip","Package":"ace/a","Test":"TestLeft"}
{"Action":"output","Package":"ace/a","Test":"TestBad","Output":"    a_test.go:9: f(1) = 2, want 1\n"}
{"Action":"output","Package":"ace/a","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"ace/a","Test":"TestBad"}
{"Action":"output","Package":"ace/a","Output":"FAIL\n"}
{"Action":"output","Package":"ace/a","Output":"FAIL\tace/a\t0.1s\n"}
{"Action":"fail","Package":"ace/a"}
{"Action":"output","Package":"ace/b","Output":"PASS\n"}
{"Action":"output","Package":"ace/b","Output":"ok  \tace/b\t0.2s\n"}
{"Action":"pass","Package":"ace/b"}
{"Action":"output","Package":"ace/c","Output":"?   \tace/c\t[no test files]\n"}
{"ImportPath":"ace/d","Action":"build-output","Output":"d.go:1: broken\n"}
words of the go command
`

const want = `    a_test.go:9: f(1) = 2, want 1
--- FAIL: TestBad (0.00s)
FAIL	ace/a	0.1s
FAIL
ok  	ace/b	0.2s
d.go:1: broken
words of the go command

Left out:
  ACE_SHARED_DIR is not set
    a TestLeft

1 tests passed, 1 failed, 1 left out.
  failed: ace/a TestBad
`

func TestReport(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := newReport(&out)
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	r.finish()
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestReasonOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		output []string
		want   string
	}{
		{nil, "no reason was given"},
		{[]string{"=== RUN   TestA\n", "--- SKIP: TestA (0.00s)\n"}, "no reason was given"},
		{[]string{"    a_test.go:1: left out: no browser\n"}, "no browser"},
		{[]string{"    a_test.go:1: first\n", "        second\n"}, "first second"},
	}
	for _, tt := range tests {
		if got := reasonOf(tt.output); got != tt.want {
			t.Errorf("reasonOf(%q) = %q, want %q", tt.output, got, tt.want)
		}
	}
}

func TestManyNamesAreCut(t *testing.T) {
	t.Parallel()
	got := names(make([]test, 9))
	if !strings.HasSuffix(got, "and 3 more") {
		t.Errorf("names = %q, want the rest counted", got)
	}
}
