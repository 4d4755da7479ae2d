package app

import (
	"regexp"
	"slices"
	"strings"
)

// body checks that what makes up the body of a call fits together.
func (c *checker) body(at string, t *Tool, known []string) {
	if t.Base != "" {
		c.address(at+"/base", t.Base)
		c.templates(at+"/base", known, t.Base)
	}
	if !slices.Contains([]string{
		BodyJSON, BodyForm, BodyBrackets, BodyMultipart, BodyGraphQL, BodyRaw, BodyRelated,
		BodyNone,
	}, t.Body) {
		c.fault(at+"/body", "%q is none of json, form, form_brackets, multipart, graphql, raw, related, none", t.Body)
	}
	media, mail := 0, 0
	for i := range t.In {
		in := &t.In[i]
		switch t.Place(in) {
		case InMedia:
			media++
		case InMail:
			mail++
		case InBody:
			if t.Body == BodyNone {
				c.fault(at+"/in/"+in.Name,
					"goes into the body of a call that has none: say body: json, or where: query")
			}
		default:
			if strings.HasPrefix(in.Wire, "/") {
				c.fault(at+"/in/"+in.Name, "wire is a pointer, and the input does not go into the body")
			}
		}
		c.shape(at+"/in/"+in.Name+"/as", []string{""}, in.As)
		c.shape(at+"/in/"+in.Name+"/each", []string{""}, in.Each)
	}
	if media > 0 && t.Body != BodyRelated || media == 0 && t.Body == BodyRelated {
		c.fault(at+"/body", "a body that is related has an input with where: media, and no other body has")
	}
	if (mail > 0) != (t.Mail != "") {
		c.fault(at+"/mail", "says where the e-mail goes that inputs with where: mail make up")
	}
	for name, value := range t.Fixed.Body {
		c.shape(at+"/fixed/body/"+name, known, value)
	}
	c.variables(at, t)
}

// shape checks the templates at any depth of a structure.
func (c *checker) shape(at string, known []string, structure any) {
	switch v := structure.(type) {
	case string:
		c.templates(at, known, v)
	case map[string]any:
		for name, inside := range v {
			c.shape(at+"/"+name, known, inside)
		}
	case []any:
		for _, inside := range v {
			c.shape(at, known, inside)
		}
	}
}

// variables checks that a document of GraphQL declares what is sent with it, and
// is sent what it cannot do without.
func (c *checker) variables(at string, t *Tool) {
	if t.GraphQL == "" {
		return
	}
	declared := regexp.MustCompile(`\$(\w+)\s*:\s*[\[\w\]!]+(!?)`)
	sent := map[string]bool{} // and whether always
	for i := range t.In {
		name, _, _ := strings.Cut(strings.TrimPrefix(t.In[i].WireName(), "/"), "/")
		sent[name] = sent[name] || t.In[i].Required || t.In[i].Schema["default"] != nil
	}
	for name := range t.Fixed.Body {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "/"), "/")
		sent[name] = true
	}
	named := map[string]bool{}
	for _, m := range declared.FindAllStringSubmatch(t.GraphQL, -1) {
		named[m[1]] = true
		if strings.HasSuffix(m[0], "!") && !sent[m[1]] {
			c.fault(at+"/graphql", "$%s is required, and no input always gives it", m[1])
		}
	}
	for name := range sent {
		if !named[name] {
			c.fault(at+"/graphql", "nothing declares $%s", name)
		}
	}
}
