package index

import "strings"

// keyTexts are keys as strings. They are made of blocks of memory, so that there
// are few allocations; who keeps one keeps the block.
type keyTexts struct {
	texts []string
	block strings.Builder
}

// keyBlock is the size of a block.
const keyBlock = 4096

func (k *keyTexts) add(key Key) {
	if key.Namespace == "" {
		k.texts = append(k.texts, key.Name) // as it is
		return
	}
	size := len(key.Namespace) + 1 + len(key.Name)
	if k.block.Cap()-k.block.Len() < size {
		k.block = strings.Builder{}
		k.block.Grow(max(size, min(keyBlock, size*(cap(k.texts)-len(k.texts)))))
	}
	start := k.block.Len()
	k.block.WriteString(key.Namespace)
	k.block.WriteByte('/')
	k.block.WriteString(key.Name)
	k.texts = append(k.texts, k.block.String()[start:])
}
