package httptool

import (
	"maps"
	"net/url"
	"strconv"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/tool"
)

// next returns the arguments that read the next page, or nil.
func next(c *tool.Call, got *answer) map[string]any {
	p := c.Tool.Paging
	if p == nil {
		p = c.App.Paging
	}
	if p == nil || c.Tool.Items == "" || c.Tool.Effect != app.Reads {
		return nil
	}
	if p.More != "" {
		if more, ok := app.Pick(got.value, p.More); !ok || app.Text(more) != "true" {
			return nil
		}
	}
	with := func(name string, value any) map[string]any {
		arguments := maps.Clone(c.Arguments)
		if arguments == nil {
			arguments = map[string]any{}
		}
		arguments[name] = value
		return arguments
	}
	switch p.Type {
	case app.PagingCursor, app.PagingGraphQL:
		if cursor := app.PickText(got.value, orNone(p.Out)); cursor != "" {
			return with(p.In, cursor)
		}
	case app.PagingPage, app.PagingOffset:
		return counted(c, p, got, with)
	case app.PagingLink:
		return fromAddress(c, linkNext(got.header.Get("Link")), with)
	case app.PagingNextURL:
		return fromAddress(c, app.PickText(got.value, orNone(p.Out)), with)
	}
	return nil
}

// counted continues by number or offset while pages are full.
func counted(c *tool.Call, p *app.Paging, got *answer, with func(string, any) map[string]any) map[string]any {
	items, _ := app.Pick(got.value, c.Tool.Items)
	list, _ := items.([]any)
	size := number(c.Arguments[p.Size.Name], p.Size.Max)
	if len(list) == 0 || p.More == "" && len(list) < size {
		return nil
	}
	if p.Type == app.PagingPage {
		return with(p.In, number(c.Arguments[p.In], p.First)+1)
	}
	return with(p.In, number(c.Arguments[p.In], 0)+len(list))
}

func number(v any, otherwise int) int {
	n, err := strconv.Atoi(app.Text(v))
	if err != nil {
		return otherwise
	}
	return n
}

// fromAddress returns the inputs in the URL of the next page: the URL itself is
// not returned, since it may lead anywhere.
func fromAddress(c *tool.Call, address string, with func(string, any) map[string]any) map[string]any {
	u, err := url.Parse(address)
	if err != nil || address == "" {
		return nil
	}
	arguments := with("", nil)
	delete(arguments, "")
	changed := false
	for i := range c.Tool.In {
		in := &c.Tool.In[i]
		values, ok := u.Query()[in.WireName()]
		if !ok || c.Tool.Place(in) != app.InQuery || len(values) != 1 || values[0] == app.Text(arguments[in.Name]) {
			continue
		}
		var value any = values[0]
		if in.Schema["type"] == "integer" {
			value = number(values[0], 0)
		}
		arguments[in.Name], changed = value, true
	}
	if !changed {
		return nil
	}
	return arguments
}

// linkNext returns the URL with rel="next" of a Link header (RFC 8288).
func linkNext(header string) string {
	for part := range strings.SplitSeq(header, ",") {
		address, params, ok := strings.Cut(strings.TrimSpace(part), ">")
		if !ok || !strings.HasPrefix(address, "<") {
			continue
		}
		for param := range strings.SplitSeq(params, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
			if strings.EqualFold(name, "rel") && strings.EqualFold(strings.Trim(value, `"`), "next") {
				return address[1:]
			}
		}
	}
	return ""
}
