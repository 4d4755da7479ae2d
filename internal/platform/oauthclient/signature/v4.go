package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Keys are who signs by Signature Version 4, and for what.
type Keys struct {
	ID, Secret      string
	Session         string // token of temporary keys; mostly empty
	Region, Service string
}

const (
	v4Algorithm = "AWS4-HMAC-SHA256"
	v4Date      = "20060102"
	v4Time      = "20060102T150405Z"
)

// V4 sets the header fields X-Amz-Date, X-Amz-Security-Token (for temporary
// keys), X-Amz-Content-Sha256 (for S3) and Authorization of a request with this
// body.
func V4(r *http.Request, body []byte, k Keys, now time.Time) {
	now = now.UTC()
	sum := sha256.Sum256(body)
	payload := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Date", now.Format(v4Time))
	if k.Session != "" {
		r.Header.Set("X-Amz-Security-Token", k.Session)
	}
	if k.Service == "s3" {
		r.Header.Set("X-Amz-Content-Sha256", payload)
	}
	fields, names := v4Fields(r)
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	if k.Service != "s3" { // everywhere else the path is escaped again
		path = escapePath(path)
	}
	request := strings.Join([]string{r.Method, path, v4Query(r), fields, names, payload}, "\n")
	scope := strings.Join([]string{now.Format(v4Date), k.Region, k.Service, "aws4_request"}, "/")
	digest := sha256.Sum256([]byte(request))
	text := strings.Join([]string{v4Algorithm, now.Format(v4Time), scope, hex.EncodeToString(digest[:])}, "\n")

	key := []byte("AWS4" + k.Secret)
	for _, part := range []string{now.Format(v4Date), k.Region, k.Service, "aws4_request", text} {
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(part)) // a hash takes everything
		key = mac.Sum(nil)
	}
	r.Header.Set("Authorization",
		v4Algorithm+" Credential="+k.ID+"/"+scope+", SignedHeaders="+names+", Signature="+hex.EncodeToString(key))
}

// v4Fields are the header fields that are signed, and their names: those that
// no proxy on the way changes.
func v4Fields(r *http.Request) (fields, names string) {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	signed := map[string]string{"host": host}
	for name, values := range r.Header {
		name = strings.ToLower(name)
		if name == "content-type" || strings.HasPrefix(name, "x-amz-") {
			trimmed := make([]string, len(values))
			for i, v := range values {
				trimmed[i] = strings.Join(strings.Fields(v), " ")
			}
			signed[name] = strings.Join(trimmed, ",")
		}
	}
	var order []string
	for name := range signed {
		order = append(order, name)
	}
	slices.Sort(order)
	for _, name := range order {
		fields += name + ":" + signed[name] + "\n"
	}
	return fields, strings.Join(order, ";")
}

func v4Query(r *http.Request) string {
	var pairs []string
	for name, values := range r.URL.Query() {
		for _, value := range values {
			pairs = append(pairs, escape(name)+"="+escape(value))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// escapePath escapes each segment of a path that is escaped already.
func escapePath(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = escape(s)
	}
	return strings.Join(segments, "/")
}
