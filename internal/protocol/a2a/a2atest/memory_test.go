package a2atest_test

import (
	"testing"

	"ace/internal/protocol/a2a"
	"ace/internal/protocol/a2a/a2atest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	a2atest.Run(t, func(*testing.T) a2a.Store { return a2atest.NewMemory() })
}
