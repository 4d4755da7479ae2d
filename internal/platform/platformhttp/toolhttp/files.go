package toolhttp

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool"
)

// maxUpload is a file with what a form puts around it.
const maxUpload = tool.MaxFile + 64<<10

func (f *Face) describeFiles(api *openapi.API, mux openapi.Mux, base string, tags, byKey []string) {
	refusals := openapi.Content{Description: "A problem.", MediaType: "application/problem+json", Schema: openapi.SchemaOf[httpserver.ProblemBody]()}
	content := openapi.Content{Description: "The file.", MediaType: "*/*"}
	id := openapi.Parameter{Name: "id", In: "path", Description: "Id of a file."}
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/files", ID: "uploadFile", Tags: tags, Security: byKey, Summary: "Upload a file as the input of a tool",
		Description: "A form with one part named file, at most 25 MiB. It is kept for 24 hours.",
	}, openapi.Description{
		Request:   &openapi.Content{MediaType: "multipart/form-data", Schema: []byte(`{"type":"object","required":["file"],"properties":{"file":{"type":"string","contentMediaType":"application/octet-stream"}}}`)},
		Responses: map[int]openapi.Content{http.StatusCreated: {Description: "The file, with its id.", Schema: openapi.SchemaOf[File]()}, 0: refusals},
	})
	openapi.Describe(api, openapi.Operation{Method: http.MethodGet, Path: base + "/files/{id}", ID: "getFile", Tags: tags, Security: byKey, Summary: "A file"},
		openapi.Description{Parameters: []openapi.Parameter{id}, Responses: map[int]openapi.Content{http.StatusOK: content, 0: refusals}})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/files/{id}/{signature}", ID: "getSignedFile", Tags: tags, Summary: "A file, without a key",
		Description: "The address of a file as a run tells it. It works for an hour.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{id, {Name: "signature", In: "path", Description: "As the address was answered."}},
		Responses:  map[int]openapi.Content{http.StatusOK: content, 0: refusals},
	})
	large := []httpserver.Middleware{httpserver.AllowTime(uploadTime), httpserver.AllowBody(maxUpload)}
	mux.Handle("POST "+base+"/files", httpserver.Chain(http.HandlerFunc(f.upload), large...))
	mux.Handle("GET "+base+"/files/{id}", httpserver.Chain(http.HandlerFunc(f.download), httpserver.AllowTime(uploadTime)))
	mux.Handle("GET "+base+"/files/{id}/{signature}", httpserver.Chain(http.HandlerFunc(f.signed), httpserver.AllowTime(uploadTime)))
}

func (f *Face) upload(w http.ResponseWriter, r *http.Request) {
	file, err := readUpload(r)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	info, err := f.Tools.Upload(r.Context(), caller(gate.From(r.Context())), file)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	text, err := json.Marshal(f.wireFile(info))
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Location", "/api/v1/files/"+info.ID)
	h.Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(append(text, '\n'))
}

// readUpload reads the part named file of a form. The form is not kept on disk.
func readUpload(r *http.Request) (*tool.File, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, problem.New(problem.UnsupportedMedia, "unsupported_media_type", "Send the file as multipart/form-data, in a part named file.")
	}
	form := multipart.NewReader(r.Body, params["boundary"])
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, problem.New(problem.Invalid, "invalid_request", "The form has no part named file.").At("file")
		}
		if err != nil {
			return nil, unreadable(err)
		}
		if part.FormName() != "file" {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(part, tool.MaxFile+1))
		if err != nil {
			return nil, unreadable(err)
		}
		return &tool.File{Name: part.FileName(), MediaType: part.Header.Get("Content-Type"), Data: data}, nil
	}
}

func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem.New(problem.TooLarge, "file_too_large", "A file has at most 25 MiB. Send a smaller one, or several.")
	}
	return problem.New(problem.Malformed, "body_unreadable", "The form cannot be read, or ended early. Send it again, whole.")
}

func (f *Face) download(w http.ResponseWriter, r *http.Request) {
	info, err := f.Tools.File(r.Context(), caller(gate.From(r.Context())), r.PathValue("id"))
	f.send(w, r, info, err)
}

func (f *Face) signed(w http.ResponseWriter, r *http.Request) {
	info, err := f.Tools.SignedFile(r.Context(), r.PathValue("id"), r.PathValue("signature"))
	f.send(w, r, info, err)
}

// send writes a file. Its bytes come from a third party: no browser shows or
// runs them as a page of this host.
func (f *Face) send(w http.ResponseWriter, r *http.Request, info *tool.FileInfo, err error) {
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	data, err := f.Tools.Content(r.Context(), info)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", info.MediaType)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": info.Name}))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, no-store")
	h.Set("ETag", `"`+info.SHA256+`"`)
	_, _ = w.Write(data) // the client has gone if this fails
}
