package mutation

import (
	"mutation/helpers"
	"setters"
)

func otherModule(lister setters.SourceLister) {
	source, err := lister.Get("web")
	if err != nil {
		return
	}
	source.SetError("none")             // want `Error of an object of a cache, SourceLister.Get`
	source.Status.SetCondition("Ready") // want `Status.Condition of an object of a cache, SourceLister.Get`
	setError(source)                    // want `Error of an object of a cache, SourceLister.Get`
	source.Settle()
	source.Status.SetNothing()
	helpers.SetOwn(source)
	(&helpers.Label{Source: source}).SetValue("a")
	shallow := *source
	shallow.SetError("")
	shallow.Status.SetCondition("Ready")
	source.DeepCopy().SetError("")
	source = source.DeepCopy()
	source.SetError("")
}

func setError(source *setters.Source) { source.SetError("none") }
