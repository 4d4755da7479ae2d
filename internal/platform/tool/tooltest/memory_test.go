package tooltest_test

import (
	"testing"

	"ace/internal/platform/tool/tooltest"
)

func TestMemoryKeepsThePromises(t *testing.T) {
	t.Parallel()
	tooltest.Run(t, func(*testing.T) tooltest.Store { return tooltest.NewMemory() })
}
