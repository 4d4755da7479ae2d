package storetest

import (
	"os"
	"sync"
	"testing"

	"ace/internal/protocol/ucp"
	"ace/internal/schematest"
)

// ValidUCP validates a body by a published schema of UCP, where
// ACE_SHARED_DIR says where the schemas are.
func ValidUCP(t testing.TB, version ucp.Version, schema string, body []byte) {
	t.Helper()
	if os.Getenv("ACE_SHARED_DIR") == "" {
		t.Log("left out: ACE_SHARED_DIR is not set")
		return
	}
	set, ok := ucpSchemas.Load(version)
	if !ok {
		set, _ = ucpSchemas.LoadOrStore(version, schematest.UCP(t, string(version)))
	}
	set.(*schematest.Set).Validate(t, schema, body)
}

// ucpSchemas keeps what was compiled: one set per version serves all tests.
var ucpSchemas sync.Map
