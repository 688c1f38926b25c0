package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProcessesAreLoadedAsSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "processes.json")
	none, err := LoadProcesses(path)
	require.NoError(t, err)
	assert.Empty(t, none)

	saved := Processes{Title: "Work", Needs: []Need{{Name: "CPU", Unit: "s", Sides: []Used{{"one", 2}, {"other", 0.5}}}}}
	require.NoError(t, saved.Save(path))
	loaded, err := LoadProcesses(path)
	require.NoError(t, err)
	assert.Equal(t, saved, loaded)

	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = LoadProcesses(path)
	assert.ErrorContains(t, err, path)
	assert.Error(t, saved.Save(filepath.Join(path, "below")))
}
