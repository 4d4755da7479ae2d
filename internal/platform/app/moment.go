package app

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"time"
)

// Moment returns values that are new with each call: now in seconds since 1970,
// now_ms, now_iso, and uuid, a random one (RFC 9562, version 4).
func Moment() Map {
	at := time.Now()
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return Map{
		"now": strconv.FormatInt(at.Unix(), 10), "now_ms": strconv.FormatInt(at.UnixMilli(), 10),
		"now_iso": at.UTC().Format(time.RFC3339),
		"uuid":    fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]),
	}
}
