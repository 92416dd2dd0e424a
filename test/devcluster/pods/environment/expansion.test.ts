import t from 'tap'
import { expand, mappingOf, maxArgumentBytes } from '../../../../src/devcluster/pods/environment/expansion.ts'

const mapping = mappingOf(
  new Map([
    ['A', 'one'],
    ['B', '$(A)'],
    ['EMPTY', ''],
    ['', 'nameless'],
    ['A(', 'bracket'],
  ]),
  new Map([
    ['A', 'hidden'],
    ['C', 'three'],
  ]),
)

/** The expected results are those of k8s.io/kubernetes/third_party/forked/golang/expansion: Expand and tryReadVariableName. */
const facts: readonly (readonly [text: string, expanded: string])[] = [
  ['', ''],
  ['plain', 'plain'],
  ['$(A)', 'one'],
  ['<$(A)-$(C)>', '<one-three>'],
  ['$(A)$(A)', 'oneone'],
  ['$(B)', '$(A)'],
  ['$(EMPTY)x', 'x'],
  ['$()', 'nameless'],
  ['$(A()', 'bracket'],
  ['$(UNKNOWN)', '$(UNKNOWN)'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$one'],
  ['$$$$(A)', '$$(A)'],
  ['$$', '$'],
  ['$', '$'],
  ['a$', 'a$'],
  ['$A', '$A'],
  ['$é$(A)', '$éone'],
  ['$(A', '$(A'],
  ['$($(A)', '$($(A)'],
  ['$($$', '$($'],
  ['$(A) $(', 'one $('],
  [')$(A', ')$(A'],
]

t.test('references are expanded as the kubelet expands them', async (t) => {
  for (const [text, expanded] of facts) t.equal(expand(text, mapping), expanded, text)
})

t.test('a long text of unfinished references is expanded in linear time', async (t) => {
  const text = '$('.repeat(maxArgumentBytes >> 1)
  t.equal(expand(text, mapping), text)
  t.equal(
    expand(`${text.slice(4)})`, () => ''),
    '',
  )
})

t.test('a text that becomes longer than any argument is refused before it fills the memory', async (t) => {
  const half = 'x'.repeat(maxArgumentBytes >> 1)
  t.equal(expand('$(A)$(A)', () => half).length, maxArgumentBytes - 1)
  t.throws(() => expand('$(A)'.repeat(100_000), () => half), { reason: 'RunContainerError', message: 'exec: argument list too long' })
})
