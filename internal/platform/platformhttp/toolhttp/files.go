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
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool/file"
)

// maxUpload is a file with what a form puts around it.
const maxUpload = file.MaxSize + 64<<10

func (h *Handler) describeFiles(api *openapi.API, mux openapi.Mux, base string, tags, byKey []string) {
	refusals := openapi.Content{
		Description: "A problem.", MediaType: "application/problem+json",
		Schema: openapi.SchemaOf[httpserver.ProblemBody](),
	}
	content := openapi.Content{Description: "The file.", MediaType: "*/*"}
	id := openapi.Parameter{Name: "id", In: "path", Description: "Id of a file."}
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/files", ID: "uploadFile", Tags: tags, Security: byKey,
		Summary:     "Upload a file as the input of a tool",
		Description: "A form with one part named file, at most 25 MiB. It is kept for 24 hours.",
	}, openapi.Description{
		Request: &openapi.Content{
			MediaType: "multipart/form-data",
			Schema: []byte(
				`{"type":"object","required":["file"],"properties":{"file":{"type":"string",` +
					`"contentMediaType":"application/octet-stream"}}}`,
			),
		},
		Responses: map[int]openapi.Content{http.StatusCreated: {
			Description: "The file, with its id.",
			Schema:      openapi.SchemaOf[operation.File](),
		}, 0: refusals},
	})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/files/{id}", ID: "getFile",
		Tags: tags, Security: byKey, Summary: "Download a file",
		Description: "A file that was uploaded, or that a run returned. Files are stored for 24 hours.",
	},
		openapi.Description{
			Parameters: []openapi.Parameter{id},
			Responses:  map[int]openapi.Content{http.StatusOK: content, 0: refusals},
		})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/files/{id}/{signature}", ID: "getSignedFile", Tags: tags,
		Summary:     "Download a file without a key",
		Description: "The url of a file in a run. It works for an hour.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{
			id,
			{Name: "signature", In: "path", Description: "As the address was answered."},
		},
		Responses: map[int]openapi.Content{http.StatusOK: content, 0: refusals},
	})
	large := []httpserver.Middleware{httpserver.AllowTime(uploadTime), httpserver.AllowBody(maxUpload)}
	mux.Handle("POST "+base+"/files", httpserver.Chain(http.HandlerFunc(h.upload), large...))
	mux.Handle("GET "+base+"/files/{id}",
		httpserver.Chain(http.HandlerFunc(h.download), httpserver.AllowTime(uploadTime)))
	mux.Handle("GET "+base+"/files/{id}/{signature}",
		httpserver.Chain(http.HandlerFunc(h.signed), httpserver.AllowTime(uploadTime)))
}

func (h *Handler) upload(w http.ResponseWriter, r *http.Request) {
	sent, err := readUpload(r)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	stored, err := h.Operations.UploadFile(r.Context(), gate.From(r.Context()), sent)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	text, err := json.Marshal(stored)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	fields := w.Header()
	fields.Set("Location", "/api/v1/files/"+stored.FileID)
	fields.Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(append(text, '\n'))
}

// readUpload reads the part named file of a form. The form is not kept on disk.
func readUpload(r *http.Request) (*file.File, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return nil, problem.New(problem.UnsupportedMedia, "unsupported_media_type",
			"Send the file as multipart/form-data, in a part named file.")
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
		data, err := io.ReadAll(io.LimitReader(part, file.MaxSize+1))
		if err != nil {
			return nil, unreadable(err)
		}
		return &file.File{Name: part.FileName(), MediaType: part.Header.Get("Content-Type"), Data: data}, nil
	}
}

func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem.New(problem.TooLarge, "file_too_large",
			"A file has at most 25 MiB. Send a smaller one, or several.")
	}
	return problem.New(problem.Malformed, "body_unreadable",
		"The form cannot be read, or ended early. Send it again, whole.")
}

func (h *Handler) download(w http.ResponseWriter, r *http.Request) {
	info, data, err := h.Operations.File(r.Context(), gate.From(r.Context()), r.PathValue("id"))
	send(w, r, info, data, err)
}

func (h *Handler) signed(w http.ResponseWriter, r *http.Request) {
	info, data, err := h.Operations.SignedFile(r.Context(), r.PathValue("id"), r.PathValue("signature"))
	send(w, r, info, data, err)
}

// send writes a file. Its bytes come from a third party: no browser shows or
// runs them as a page of this host.
func send(w http.ResponseWriter, r *http.Request, info *file.Info, data []byte, err error) {
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	fields := w.Header()
	fields.Set("Content-Type", info.MediaType)
	fields.Set("Content-Length", strconv.Itoa(len(data)))
	fields.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": info.Name}))
	fields.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	fields.Set("X-Content-Type-Options", "nosniff")
	fields.Set("Referrer-Policy", "no-referrer")
	fields.Set("Cache-Control", "private, no-store")
	fields.Set("ETag", `"`+info.SHA256+`"`)
	_, _ = w.Write(data) // the client has gone if this fails
}
