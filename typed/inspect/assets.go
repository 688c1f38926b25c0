package inspect

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"strings"
)

//go:embed web
var web embed.FS

// style and script are in every page, so that it needs no other file.
var (
	style  = asset("style.css")
	script = asset("script.js")
)

// policy lets a page use its own style and script, talk to where it came from, and nothing
// else.
var policy = strings.Join([]string{
	"default-src 'none'",
	"style-src '" + digest(style) + "'",
	"script-src '" + digest(script) + "'",
	"connect-src 'self'",
	"img-src data:",
	"form-action 'self'",
	"base-uri 'none'",
	"frame-ancestors 'self'",
}, "; ")

// templates are the parts of pages.
var templates = template.Must(template.New("").Funcs(functions).ParseFS(web, "web/*.html"))

// asset returns a file that is part of the program.
func asset(name string) string {
	text, err := web.ReadFile("web/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

// digest returns what a policy names a style or script by.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
