package datapack_test

import (
	"testing"

	"ace/internal/storefront/datapack"
	"ace/internal/testsites"
)

func TestSites(t *testing.T) {
	t.Parallel()
	for _, name := range testsites.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := testsites.Serve(t, name)
			pack, err := packer(t, site).Run(t.Context(), datapack.Request{URL: site.Home()}, nil)
			if err != nil {
				golden(t, name+".md", "error: "+site.Stable(err.Error())+"\n")
				return
			}
			golden(t, name+".md", site.Stable(pack.Markdown()))
		})
	}
}
