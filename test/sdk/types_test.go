package sdk

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// typescript writes files into a folder that sees the installed packages and the
// client, and compiles them strictly.
func typescript(t *testing.T, files map[string]string) {
	t.Helper()
	node := os.Getenv("ACE_NODE")
	if node == "" {
		t.Skip("left out: ACE_NODE is not set")
	}
	dir := t.TempDir()
	files["tsconfig.json"] = `{"compilerOptions": {"strict": true, "noEmit": true, "module": "nodenext",
		"target": "es2022", "lib": ["es2023", "dom", "dom.iterable"], "types": [], "skipLibCheck": true,
		"exactOptionalPropertyTypes": false}, "include": ["*.ts"]}`
	files["package.json"] = `{"type": "module"}`
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules(t), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	output(t, dir, nil, node, filepath.Join(modules(t), "typescript/bin/tsc"), "-p", dir)
}

func TestTypesOfJavaScript(t *testing.T) {
	t.Parallel()
	typescript(t, map[string]string{
		"ace.d.mts": string(read(t, "../../sdk/js/ace.d.ts")),
		"ace.mjs":   string(read(t, "../../sdk/js/ace.mjs")),
		"use.ts":    string(read(t, "testdata/use.ts")),
	})
}

// TestDefinitionsFitTheModelsTypes assigns what definitions() returns to the
// types of the vendors' own clients: the six tools, and recorded definitions of
// single tools.
func TestDefinitionsFitTheModelsTypes(t *testing.T) {
	t.Parallel()
	node := os.Getenv("ACE_NODE")
	if node == "" {
		t.Skip("left out: ACE_NODE is not set")
	}
	modules(t)
	types := map[string]string{
		"openai": `import type { ChatCompletionTool } from "openai/resources/chat/completions";
			type Item = ChatCompletionTool;`,
		"openai_responses": `import type { FunctionTool } from "openai/resources/responses/responses";
			type Item = Omit<FunctionTool, "strict"> & { strict?: boolean | null };`,
		"anthropic": `import type { Tool } from "@anthropic-ai/sdk/resources/messages";
			type Item = Tool;`,
		"gemini": `import type { FunctionDeclaration } from "@google/genai";
			type Loose<T> = T extends object ? { [K in keyof T]: K extends "type" ? string : Loose<T[K]> } : T;
			type Item = Loose<Pick<FunctionDeclaration, "name" | "description" | "parameters">>;`,
	}
	files := map[string]string{}
	for dialect, declaration := range types {
		six := output(
			t,
			"../../sdk/js",
			nil,
			node,
			"--input-type=module",
			"-e",
			`import { ACE } from "./ace.mjs"; console.log(JSON.stringify(await new `+
				`ACE("k").tools.definitions({format: "`+
				dialect+`"})))`,
		)
		single := output(
			t,
			".",
			nil,
			node,
			"-p",
			`JSON.stringify(JSON.parse(require("fs").readFileSync("../../sdk/exchanges/`+
				`definitions_`+dialect+`.json")).returns)`,
		)
		files[dialect+".ts"] = declaration + "\nexport const six: " +
			"Item[] = " + six + ";\nexport const single: Item[] = " +
			single + ";\n"
	}
	typescript(t, files)
}

// fetch reads a URL once its server listens.
func fetch(t *testing.T, address string) string {
	t.Helper()
	return strings.TrimSpace(string(fetchBytes(t, address)))
}

func fetchBytes(t *testing.T, address string) []byte {
	t.Helper()
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if errors.Is(err, syscall.ECONNREFUSED) {
			continue // the server does not listen yet
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %d, %v\n%s", address, response.StatusCode, err, body)
		}
		return body
	}
}
