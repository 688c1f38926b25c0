package inspect

import (
	"fmt"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// followed looks at names that cannot be followed.
func (f *finding) followed(of *snapshot.Informer) {
	names := of.Followed
	if names == nil || names.Refused+names.Unheld == 0 {
		return
	}
	p := snapshot.Problem{Severity: snapshot.Warning, Reason: "NamesNotFollowed", Part: of.ID, Name: of.Name}
	p.Text = fmt.Sprintf("some names are not followed: %s refused by the API server, %s not held; there are %s in all",
		grouped(int64(names.Refused)), grouped(int64(names.Unheld)), counted(names.Held+names.Idle+names.Unheld, "name"))
	if len(names.Unfollowed) > 0 {
		first := names.Unfollowed[0]
		p.Key, p.Detail, p.Since = first.Key, first.Error, first.Since
	}
	f.add(55, p)
}
