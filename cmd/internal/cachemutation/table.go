package cachemutation

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"sync"
)

// summaries is written by TestTable with -table.update.
//
//go:embed summaries.json.gz
var summaries []byte

// table returns the summaries of packages that programs import, by package and function.
var table = sync.OnceValue(func() map[string]map[string]*Summary {
	all := map[string]map[string]*Summary{}
	unzipped, err := gzip.NewReader(bytes.NewReader(summaries))
	if err != nil {
		panic(err) // the embedded file is broken
	}
	if err := json.NewDecoder(unzipped).Decode(&all); err != nil {
		panic(err)
	}
	return all
})
