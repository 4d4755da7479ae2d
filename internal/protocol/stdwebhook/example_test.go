package stdwebhook_test

import (
	"fmt"
	"net/http"
	"time"

	"ace/internal/protocol/stdwebhook"
)

func Example() {
	secret := stdwebhook.NewSecret()
	payload := []byte(`{"type":"order.completed"}`)
	header := http.Header{}
	now := time.Now()
	if err := stdwebhook.Sign(header, []stdwebhook.Secret{secret}, "evt_1", now, payload); err != nil {
		fmt.Println(err)
		return
	}
	delivery, err := stdwebhook.Verify(header, []stdwebhook.Secret{secret}, payload, now)
	fmt.Println(delivery.ID, err)
	// Output: evt_1 <nil>
}
