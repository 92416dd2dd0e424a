import t from 'tap'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { deepFreeze } from '../../../src/api/json.ts'
import { strategicMergePatch } from '../../../src/devcluster/patch/strategic-merge-patch.ts'
import { kindType } from '../../../src/devcluster/types/go-types.ts'

const podType = kindType({ group: '', version: 'v1', kind: 'Pod' })!
const pod: JsonObject = {
  metadata: { name: 'p', labels: { a: '1', b: '2' }, finalizers: ['x/a', 'x/b'] },
  spec: {
    containers: [
      { name: 'one', image: 'one:1', ports: [{ containerPort: 80, name: 'http' }], env: [{ name: 'A', value: '1' }] },
      { name: 'two', image: 'two:1', args: ['a', 'b'] },
    ],
    tolerations: [{ key: 'k' }],
    volumes: [{ name: 'v', emptyDir: {} }],
    securityContext: { runAsUser: 1 },
  },
}

/** Results of k8s.io/apimachinery for strategic merge patches of a Pod: the value at the path in the patched Pod, or the error. */
const cases: readonly (readonly [patch: JsonObject, at: readonly string[], result: JsonValue, target?: JsonObject])[] = [
  [{ $patch: 'delete' }, [], {}],
  [{ $patch: 'replace', kind: 'x' }, [], { kind: 'x' }],
  [{ $patch: 'merge' }, [], 'unknown patch type: merge in map: map[$patch:merge]'],
  [{ spec: { $patch: 'delete' } }, ['spec'], {}],
  [{ spec: { $patch: 'replace', hostname: 'h' } }, ['spec'], { hostname: 'h' }],
  [{ metadata: { labels: { $patch: 'delete' } } }, ['metadata', 'labels'], {}],
  [{ metadata: { labels: null } }, ['metadata'], { finalizers: ['x/a', 'x/b'], name: 'p' }],
  [{ metadata: { labels: { a: null, c: null, d: '4' } } }, ['metadata', 'labels'], { b: '2', d: '4' }],
  [{ metadata: { labels: 'x' } }, ['metadata'], { finalizers: ['x/a', 'x/b'], labels: 'x', name: 'p' }],
  [{ metadata: { name: { a: 'b' } } }, ['metadata', 'name'], { a: 'b' }],
  [{ metadata: { labels: { $retainKeys: ['a'] } } }, ['metadata', 'labels'], { a: '1' }],
  [{ metadata: { labels: { $retainKeys: ['a', 'c'], c: '3' } } }, ['metadata', 'labels'], { a: '1', c: '3' }],
  [{ metadata: { labels: { $retainKeys: 'a' } } }, [], 'invalid patch format of retainKeys'],
  [{ metadata: { labels: { $retainKeys: ['a'], b: '2' } } }, [], 'invalid patch format of retainKeys'],
  [{ metadata: { labels: { $retainKeys: [], a: null } } }, ['metadata', 'labels'], {}],
  [
    { spec: { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] } },
    ['spec', 'volumes'],
    [{ hostPath: { path: '/x' }, name: 'v' }],
  ],
  [
    { spec: { volumes: [{ name: 'v', hostPath: { path: '/x' } }] } },
    ['spec', 'volumes'],
    [{ emptyDir: {}, hostPath: { path: '/x' }, name: 'v' }],
  ],
  [
    { spec: { volumes: [{ name: 'w', $retainKeys: ['name'] }] } },
    ['spec', 'volumes'],
    [
      { $retainKeys: ['name'], name: 'w' },
      { emptyDir: {}, name: 'v' },
    ],
  ],
  [{ metadata: { finalizers: ['x/c'] } }, ['metadata', 'finalizers'], ['x/c', 'x/a', 'x/b']],
  [{ metadata: { finalizers: ['x/b', 'x/c', 'x/c'] } }, ['metadata', 'finalizers'], ['x/a', 'x/b', 'x/c']],
  [{ metadata: { finalizers: [] } }, ['metadata', 'finalizers'], ['x/a', 'x/b']],
  [{ metadata: { '$deleteFromPrimitiveList/finalizers': ['x/a', 'x/z'] } }, ['metadata', 'finalizers'], ['x/b']],
  [{ metadata: { '$deleteFromPrimitiveList/finalizers': ['x/a'], finalizers: ['x/c'] } }, ['metadata', 'finalizers'], ['x/c', 'x/b']],
  [{ metadata: { '$deleteFromPrimitiveList/finalizers': null } }, ['metadata'], { labels: { a: '1', b: '2' }, name: 'p' }],
  [{ metadata: { '$deleteFromPrimitiveList/finalizers': 'x' } }, ['metadata', 'finalizers'], ['x/a', 'x/b']],
  [
    { metadata: { '$deleteFromPrimitiveList/ownerReferences': ['x'] } },
    ['metadata'],
    { finalizers: ['x/a', 'x/b'], labels: { a: '1', b: '2' }, name: 'p' },
  ],
  [{ metadata: { $deleteFromPrimitiveList: ['x'] } }, [], 'invalid patch format of primitive list'],
  [
    { metadata: { '$deleteFromPrimitiveList/none': ['x'] } },
    ['metadata'],
    { finalizers: ['x/a', 'x/b'], labels: { a: '1', b: '2' }, name: 'p' },
  ],
  [{ metadata: { '$setElementOrder/finalizers': ['x/b', 'x/a'] } }, ['metadata', 'finalizers'], ['x/b', 'x/a']],
  [{ metadata: { '$setElementOrder/finalizers': ['x/c', 'x/b'], finalizers: ['x/c'] } }, ['metadata', 'finalizers'], ['x/c', 'x/a', 'x/b']],
  [
    { metadata: { '$setElementOrder/finalizers': ['x/b'], finalizers: ['x/c'] } },
    [],
    "The order in patch list:\n[x/c]\n doesn't match $setElementOrder list:\n[x/b]\n",
  ],
  [{ metadata: { '$setElementOrder/finalizers': [], finalizers: ['x/c'] } }, ['metadata', 'finalizers'], ['x/c'], { metadata: {} }],
  [{ metadata: { '$setElementOrder/finalizers': ['x/b', 'x/a'], finalizers: [] } }, ['metadata', 'finalizers'], ['x/b', 'x/a']],
  [{ metadata: { '$setElementOrder/finalizers': ['x/b', 'x/a', 'x/z'] } }, ['metadata', 'finalizers'], ['x/b', 'x/a']],
  [
    { spec: { '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }] } },
    ['spec', 'containers'],
    [
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
      { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
    ],
  ],
  [
    {
      spec: {
        '$setElementOrder/containers': [{ name: 'two' }, { name: 'three' }, { name: 'one' }],
        containers: [{ name: 'three', image: 'x' }],
      },
    },
    ['spec', 'containers'],
    [
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
      { image: 'x', name: 'three' },
      { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
    ],
  ],
  [
    { spec: { '$setElementOrder/containers': [{ name: 'two' }], containers: [{ name: 'one', $patch: 'delete' }] } },
    ['spec', 'containers'],
    [{ args: ['a', 'b'], image: 'two:1', name: 'two' }],
  ],
  [
    {
      spec: {
        '$setElementOrder/containers': [{ name: 'one' }, { name: 'two' }],
        containers: [
          { name: 'two', image: 'a' },
          { name: 'one', image: 'b' },
        ],
      },
    },
    [],
    "The order in patch list:\n[map[image:a name:two] map[image:b name:one]]\n doesn't match $setElementOrder list:\n[map[name:one] map[name:two]]\n",
  ],
  [{ spec: { '$setElementOrder/containers': [{ image: 'x' }] } }, [], 'map: map[image:x] does not contain declared merge key: name'],
  [
    { spec: { '$setElementOrder/initContainers': [{ name: 'a' }] } },
    ['spec'],
    {
      containers: [
        { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
        { args: ['a', 'b'], image: 'two:1', name: 'two' },
      ],
      securityContext: { runAsUser: 1 },
      tolerations: [{ key: 'k' }],
      volumes: [{ emptyDir: {}, name: 'v' }],
    },
  ],
  [{ spec: { '$setElementOrder/containers': [{ name: 'one' }], containers: 'x' } }, [], 'expected a []interface {}, but received a string'],
  [{ spec: { $setElementOrderX: [] } }, [], 'invalid patch format of setElementOrder list'],
  [
    { spec: { containers: [{ name: 'three', image: 'x' }] } },
    ['spec', 'containers'],
    [
      { image: 'x', name: 'three' },
      { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
    ],
  ],
  [
    { spec: { containers: [{ name: 'one', image: null }] } },
    ['spec', 'containers'],
    [
      { env: [{ name: 'A', value: '1' }], name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
    ],
  ],
  [
    { spec: { containers: [{ name: 'two', args: ['c'] }] } },
    ['spec', 'containers'],
    [
      { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
      { args: ['c'], image: 'two:1', name: 'two' },
    ],
  ],
  [
    { spec: { containers: [{ name: 'one', ports: [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 81 }] }] } },
    ['spec', 'containers'],
    [
      {
        env: [{ name: 'A', value: '1' }],
        image: 'one:1',
        name: 'one',
        ports: [{ containerPort: 80, name: 'http', protocol: 'UDP' }, { containerPort: 81 }],
      },
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
    ],
  ],
  [
    { spec: { containers: [{ name: 'one', env: [{ $patch: 'replace' }, { name: 'B', value: '2' }] }] } },
    ['spec', 'containers'],
    [
      { env: [{ name: 'B', value: '2' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
    ],
  ],
  [{ spec: { containers: [{ name: 'one', $patch: 'replace' }] } }, ['spec', 'containers'], []],
  [{ spec: { containers: [{ $patch: 'delete' }] } }, [], 'map: map[$patch:delete] does not contain declared merge key: name'],
  [
    {
      spec: {
        containers: [
          { name: 'one', $patch: 'delete' },
          { name: 'two', $patch: 'delete' },
        ],
      },
    },
    ['spec', 'containers'],
    [],
  ],
  [
    { spec: { containers: [{ name: 'zero', $patch: 'delete' }] } },
    ['spec', 'containers'],
    [
      { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
    ],
  ],
  [{ spec: { containers: [{ name: 'one', $patch: 'x' }] } }, [], 'unknown patch type: x in map: map[$patch:x name:one]'],
  [
    {
      spec: {
        containers: [
          {
            name: 'three',
            env: [
              { name: 'x', value: null },
              { name: 'y', $patch: 'delete' },
            ],
          },
        ],
      },
    },
    ['spec', 'containers'],
    [
      {
        env: [
          { name: 'x', value: null },
          { $patch: 'delete', name: 'y' },
        ],
        name: 'three',
      },
      { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
    ],
  ],
  [
    { spec: { containers: ['x'] } },
    [],
    'list element types are not identical: [[map[env:[map[name:A value:1]] image:one:1 name:one ports:[map[containerPort:80 name:http]]] map[args:[a b] image:two:1 name:two]] [x]]',
  ],
  [
    { spec: { containers: [{ name: 'three' }, { name: 'two', image: 'y' }, { name: 'four' }] } },
    ['spec', 'containers'],
    [
      { name: 'three' },
      { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
      { args: ['a', 'b'], image: 'y', name: 'two' },
      { name: 'four' },
    ],
  ],
  [
    { spec: { containers: [{ name: 'two' }, { name: 'one' }] } },
    ['spec', 'containers'],
    [
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
      { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
    ],
  ],
  [
    { spec: { containers: [] } },
    ['spec', 'containers'],
    [
      { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
      { args: ['a', 'b'], image: 'two:1', name: 'two' },
    ],
  ],
  [{ spec: { tolerations: [] } }, ['spec', 'tolerations'], []],
  [
    { spec: { tolerations: null } },
    ['spec'],
    {
      containers: [
        { env: [{ name: 'A', value: '1' }], image: 'one:1', name: 'one', ports: [{ containerPort: 80, name: 'http' }] },
        { args: ['a', 'b'], image: 'two:1', name: 'two' },
      ],
      securityContext: { runAsUser: 1 },
      volumes: [{ emptyDir: {}, name: 'v' }],
    },
  ],
  [
    {
      spec: {
        hostAliases: [
          { ip: '1', hostnames: ['a'] },
          { ip: '2', $patch: 'delete' },
        ],
      },
    },
    ['spec', 'hostAliases'],
    [{ hostnames: ['a'], ip: '1' }],
  ],
  [{ spec: { securityContext: { runAsUser: null, fsGroup: 2 } } }, ['spec', 'securityContext'], { fsGroup: 2 }],
  [{ spec: { nope: { a: 1 } } }, ['spec', 'nope'], { a: 1 }],
  [
    { nope: { a: 1 } },
    [],
    'unable to find api field in struct Pod for the json field "nope"',
    {
      metadata: { name: 'p', labels: { a: '1', b: '2' }, finalizers: ['x/a', 'x/b'] },
      spec: {
        containers: [
          { name: 'one', image: 'one:1', ports: [{ containerPort: 80, name: 'http' }], env: [{ name: 'A', value: '1' }] },
          { name: 'two', image: 'two:1', args: ['a', 'b'] },
        ],
        tolerations: [{ key: 'k' }],
        volumes: [{ name: 'v', emptyDir: {} }],
        securityContext: { runAsUser: 1 },
      },
      nope: { b: 2 },
    },
  ],
  [{ spec: { containers: {} } }, ['spec', 'containers'], {}],
  [{ spec: { securityContext: [] } }, ['spec', 'securityContext'], []],
  [{ spec: { imagePullSecrets: [{ name: 'a' }] } }, ['spec', 'imagePullSecrets'], [{ name: 'a' }], { spec: { imagePullSecrets: [] } }],
  [{ spec: { containers: [] } }, ['spec', 'containers'], [], { spec: { containers: [] } }],
  [
    { spec: { containers: [{ name: 'a', $patch: 'replace' }] } },
    ['spec', 'containers'],
    [],
    { spec: { containers: [{ name: 'a', image: 'i' }] } },
  ],
]

t.test('directives, element orders and lists have the results of apimachinery', async (t) => {
  for (const [patch, at, result, target = pod] of cases) {
    const run = (): JsonObject => strategicMergePatch(deepFreeze(target), patch, podType)
    if (typeof result === 'string') t.throws(run, { name: 'PatchError', message: result }, JSON.stringify(patch))
    else {
      const found = at.reduce<JsonValue | undefined>((value, key) => (value as JsonObject)[key], run())
      t.strictSame(found, result, JSON.stringify(patch))
    }
  }
})

t.test('a malformed strategic merge patch is refused with the message of apimachinery', async (t) => {
  const of =
    (patch: JsonValue): (() => unknown) =>
    (): unknown =>
      strategicMergePatch(pod, patch, podType)
  t.throws(of([]), { reason: 'malformed', message: 'a strategic merge patch must be an object' })
  t.throws(of({ spec: { '$setElementOrder/containers': null } }), {
    reason: 'internal',
    message: 'expected a []interface {}, but received a <nil>',
  })
  t.throws(of({ metadata: { labels: { $retainKeys: 'a' } } }), { reason: 'malformed', message: 'invalid patch format of retainKeys' })
  t.throws(of({ $patch: 'merge' }), { reason: 'internal', message: 'unknown patch type: merge in map: map[$patch:merge]' })
})
