import t from 'tap'
import { compileJsonPath, plainFields } from '../../../src/devcluster/crd/json-path.ts'

const object = {
  metadata: { annotations: { 'example.com/a': 'x' }, labels: {} },
  spec: {
    size: 3,
    hosts: ['a', 'b'],
    containers: [
      { name: 'main', image: 'i:1' },
      { name: 'side', image: 'i:2' },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', n: 2 },
      { type: 'Synced', status: 'False', n: 5 },
    ],
  },
}

const cases: [string, unknown[]][] = [
  ['.spec.size', [3]],
  ['.spec.missing.deeper', []],
  ['.spec.hosts', [['a', 'b']]],
  ['.spec.hosts[0]', ['a']],
  ['.spec.hosts[-1]', ['b']],
  ['.spec.hosts[*]', ['a', 'b']],
  ['.spec.containers[*].image', ['i:1', 'i:2']],
  ['.spec.containers[?(@.name=="side")].image', ['i:2']],
  [".status.conditions[?(@.type=='Ready')].status", ['True']],
  ['.status.conditions[?(@.type != "Ready")].status', ['False']],
  ['.status.conditions[?(@.n>2)].type', ['Synced']],
  ['.status.conditions[?(@.n<=2)].type', ['Ready']],
  ['.status.conditions[?(@.n<=1)].type', []],
  ['.status.conditions[?(@.n<2)].type', []],
  ['.status.conditions[?(@.n<5)].type', ['Ready']],
  ['.status.conditions[?(@.n>=2)].type', ['Ready', 'Synced']],
  ['.status.conditions[?(@.n>=3)].type', ['Synced']],
  ['.status.conditions[?(@.n>5)].type', []],
  ['.status.conditions[?(@.n==5)].type', ['Synced']],
  ['.status.conditions[?(@.n!=5)].type', ['Ready']],
  ['.status.conditions[?(@.type>"Ready")].n', [5]],
  ['.status.conditions[?(@.type<"Synced")].n', [2]],
  ['.status.conditions[?(@.n>"1")].type', []],
  ['.status.conditions[?(@.type>1)].n', []],
  ['.status.conditions[?(@.reason!="x")].type', []],
  ['.status.conditions[?(@.n)].type', ['Ready', 'Synced']],
  ['.spec.hosts[?(@=="b")]', ['b']],
  ['.spec.hosts[?(@==b)]', ['b']],
  ['.spec.hosts[2]', []],
  ['.spec.hosts[-3]', []],
  ['.spec.size[0]', []],
  ['.spec.hosts.*', ['a', 'b']],
  ['.spec.hosts.length', []],
  ['.metadata.annotations.example\\.com/a.length', []],
  ['.metadata.annotations.*', ['x']],
  ['.metadata.annotations[*]', ['x']],
  ['.spec.containers[0][?(@=="main")]', ['main']],
  ['.metadata.labels[*]', []],
  ['.spec.size[*]', []],
  ['.status.conditions[?(@.reason)].type', []],
  ['.metadata.annotations.example\\.com/a', ['x']],
  [".metadata.annotations['example\\.com/a']", ['x']],
  [".metadata.annotations['example.com/a']", []],
  [".spec['hosts'][0]", ['a']],
  [".metadata['labels.none']", []],
  ['.constructor', []],
  ['.metadata.labels.__proto__', []],
]

for (const [path, expected] of cases) {
  t.test(`${path} yields ${JSON.stringify(expected)}`, async (t) => {
    t.strictSame(compileJsonPath(path)(object), expected)
  })
}

for (const path of [
  '',
  '.',
  'spec.size',
  '.spec..size',
  '.spec[',
  '.spec[a]',
  '.spec["hosts"]',
  ".spec['a,b']",
  '.spec size',
  '{.spec.size}',
]) {
  t.test(`${JSON.stringify(path)} is refused`, async (t) => {
    t.throws(() => compileJsonPath(path), SyntaxError)
  })
}

t.test('a path of plain fields is split, and other paths are not', async (t) => {
  t.strictSame(plainFields('.spec.replicas'), ['spec', 'replicas'])
  t.equal(plainFields('.spec.list[0]'), undefined)
  t.equal(plainFields('spec'), undefined)
})

t.test('a filter compares with true and false', async (t) => {
  const flags = {
    items: [
      { ok: true, n: 1 },
      { ok: false, n: 2 },
    ],
  }
  t.strictSame(compileJsonPath('.items[?(@.ok==true)].n')(flags), [1])
  t.strictSame(compileJsonPath('.items[?(@.ok==false)].n')(flags), [2])
  t.strictSame(compileJsonPath('.items[?(@.ok!=true)].n')(flags), [2])
})
