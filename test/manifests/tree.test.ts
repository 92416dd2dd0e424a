import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { staleFiles, writeFiles } from '../../src/manifests/tree.ts'

t.test('of the definitions, those that nothing asks for go; what is no manifest is left alone', async (t) => {
  const directory = t.testdir({ crd: { bases: { 'kept.yaml': 'a', 'old.yaml': 'b', 'README.md': 'mine' }, 'own.yaml': 'mine' } })
  const files = new Map([
    ['crd/bases/kept.yaml', 'a'],
    ['crd/bases/new.yaml', 'c'],
  ])
  const stale = ['crd/bases/new.yaml', 'crd/bases/old.yaml']
  t.strictSame(await staleFiles(directory, files), stale)
  t.strictSame(await writeFiles(directory, files), stale)
  t.strictSame(await writeFiles(directory, files), [])
  t.strictSame(readdirSync(join(directory, 'crd/bases')).sort(), ['README.md', 'kept.yaml', 'new.yaml'])
  t.strictSame(readdirSync(join(directory, 'crd')).sort(), ['bases', 'own.yaml'])
})
