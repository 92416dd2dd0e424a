import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readManifests, UnreadableInput } from '../../src/cli/manifests-input.ts'

/**
 * Reads these files and folders. Returns `SOURCE NAME` for each object, and `SOURCE: PROBLEM` for each file, folder, document or list item
 * that is unreadable.
 */
async function found(...places: string[]): Promise<string[]> {
  const all: string[] = []
  for await (const input of readManifests(places)) {
    if (input instanceof UnreadableInput) all.push(`${input.source}: ${input.problem}`)
    else all.push(`${input.source} ${(input.object.metadata as { name: string }).name}`)
  }
  return all
}

const manifest = (name: string): string => `apiVersion: v1\nkind: A\nmetadata: {name: ${name}}\n`

t.test('a folder is read recursively, ordered by path', async (t) => {
  const folder = t.testdir({
    'b.yml': manifest('b'),
    'a.yaml': manifest('a'),
    'c.json': '{"apiVersion":"v1","kind":"A","metadata":{"name":"c"}}',
    'README.md': 'no manifest',
    below: { deep: { 'd.yaml': manifest('d') } },
  })
  t.strictSame(await found(folder), [`${folder}/a.yaml a`, `${folder}/b.yml b`, `${folder}/below/deep/d.yaml d`, `${folder}/c.json c`])
})

t.test('each document of a file, and each item of a list, is an object', async (t) => {
  const folder = t.testdir({
    'documents.yaml': `---\n# a comment alone\n---\n${manifest('a')}---\n${manifest('b')}`,
    'list.json': '{"apiVersion":"v1","kind":"List","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}',
  })
  t.strictSame(await found(join(folder, 'documents.yaml'), join(folder, 'list.json')), [
    `${folder}/documents.yaml, document 2 a`,
    `${folder}/documents.yaml, document 3 b`,
    `${folder}/list.json, item 1 a`,
    `${folder}/list.json, item 2 b`,
  ])
})

t.test('unreadable files are reported, and the others are read', async (t) => {
  const folder = t.testdir({
    'broken.yaml': `a: [\n---\n${manifest('after-it')}`,
    'other.yaml': 'a: 1\n',
    'good.yaml': manifest('good'),
  })
  const places = ['absent.yaml', 'other.yaml', 'good.yaml'].map((name) => join(folder, name))
  t.strictSame(await found(...places), [
    `${folder}/absent.yaml: there is no such file or folder`,
    `${folder}/other.yaml: not a Kubernetes object: apiVersion and kind are needed`,
    `${folder}/good.yaml good`,
  ])
  const [problem, ...rest] = await found(join(folder, 'broken.yaml'))
  t.match(problem, /^\S+broken\.yaml, document 1: /)
  t.strictSame(rest, [`${folder}/broken.yaml, document 2 after-it`])
})

t.test('a document with a syntax error is reported, even if an object could be read from it', async (t) => {
  const folder = t.testdir({ 'twice.yaml': `${manifest('twice')}kind: B\n` })
  t.strictSame(await found(folder), [`${folder}/twice.yaml: Map keys must be unique: "kind" is a duplicate at line 4, column 1`])
})

t.test('values that are not objects are reported', async (t) => {
  const folder = t.testdir({
    'kind.yaml': 'apiVersion: v1\nkind: 1\n',
    'version.yaml': 'apiVersion: 1\nkind: A\n',
    'text.yaml': 'a text\n',
    'list.yaml': '- a\n',
    'none.yaml': '',
    'items.yaml': 'apiVersion: v1\nkind: List\nitems: [1, {metadata: {name: a}}, null]\n',
    'own.yaml': 'apiVersion: v1\nkind: A\nmetadata: {name: own}\nitems: {a: 1}\n',
    'anchor.yaml': `apiVersion: v1\nkind: A\nmetadata: {<<: &a {name: anchor}}\nother: [${'*a, '.repeat(98)}*a]\n`,
    'bomb.yaml': `apiVersion: v1\nkind: A\nmetadata: {<<: &a {name: bomb}}\nother: [${'*a, '.repeat(99)}*a]\n`,
  })
  const no = 'not a Kubernetes object: apiVersion and kind are needed'
  t.strictSame(await found(folder), [
    `${folder}/anchor.yaml anchor`,
    `${folder}/bomb.yaml: Excessive alias count indicates a resource exhaustion attack`,
    `${folder}/items.yaml, item 1: ${no}`,
    `${folder}/items.yaml, item 2 a`,
    `${folder}/items.yaml, item 3: ${no}`,
    `${folder}/kind.yaml: ${no}`,
    `${folder}/list.yaml: ${no}`,
    `${folder}/own.yaml own`,
    `${folder}/text.yaml: ${no}`,
    `${folder}/version.yaml: ${no}`,
  ])
})

t.test('an unreadable file does not stop the others of its folder', async (t) => {
  const folder = t.testdir({ 'a.yaml': {}, 'b.yaml': manifest('b') })
  t.strictSame(await found(folder, join(folder, 'b.yaml', 'c')), [
    `${folder}/a.yaml: EISDIR: illegal operation on a directory, read`,
    `${folder}/b.yaml b`,
    `${folder}/b.yaml/c: ENOTDIR: not a directory, stat '${folder}/b.yaml/c'`,
  ])
})

t.test('integers beyond 2^53 are exact', async (t) => {
  const cases: [string, string][] = [
    [
      'a.yaml',
      'apiVersion: v1\nkind: A\nspec: {a: 9007199254740993, b: 3, c: [-9223372036854775808], d: 9223372036854775808, e: "9007199254740993", 12: 1.5}\n',
    ],
    [
      'a.json',
      '{"apiVersion":"v1","kind":"A","spec":{"a":9007199254740993,"b":3,"c":[-9223372036854775808],"d":9223372036854775808,"e":"9007199254740993","12":1.5}}',
    ],
  ]
  const folder = t.testdir()
  for (const [name, content] of cases) {
    await writeFile(join(folder, name), content)
    const found = []
    for await (const input of readManifests([join(folder, name)])) found.push(input)
    const spec = { a: 9007199254740993n, b: 3, c: [-9223372036854775808n], d: 2 ** 63, e: '9007199254740993', '12': 1.5 }
    t.strictSame(found, [{ source: join(folder, name), object: { apiVersion: 'v1', kind: 'A', spec } }])
  }
})

t.test('hexadecimal integers beyond 2^53 are exact', async (t) => {
  const folder = t.testdir({ 'a.yaml': 'apiVersion: v1\nkind: A\nspec: {a: 0x20000000000001, b: 0x3, c: [0x7FFFFFFFFFFFFFFF]}\n' })
  const found = []
  for await (const input of readManifests([folder])) found.push(input)
  const spec = { a: 9007199254740993n, b: 3, c: [9223372036854775807n] }
  t.strictSame(found, [{ source: join(folder, 'a.yaml'), object: { apiVersion: 'v1', kind: 'A', spec } }])
})
