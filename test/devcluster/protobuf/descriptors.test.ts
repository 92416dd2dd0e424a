/** Tests of the descriptors of all types that have a protobuf encoding. */
import t from 'tap'
import { apiVersionOf } from '../../../src/api/group-version-kind.ts'
import type { MessageDescriptor } from '../../../src/devcluster/protobuf/descriptors.ts'
import { isRegistered, messageDescriptor, messageOfKind } from '../../../src/devcluster/protobuf/descriptors.ts'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'

t.test('every served type and subresource has a descriptor', (t) => {
  for (const info of builtinResources) {
    const types = [info, ...Object.values(info.subresources).map((subresource) => ({ ...info, ...subresource }))]
    for (const type of types) {
      t.ok(messageOfKind(apiVersionOf(type), type.kind), `${apiVersionOf(type)} ${type.kind}`)
      t.ok(isRegistered(apiVersionOf(type), type.kind))
    }
  }
  t.end()
})

t.test('every message that a type refers to has a descriptor', (t) => {
  const seen = new Set<string>()
  const visit = (message: MessageDescriptor): void => {
    if (seen.has(message.name)) return
    seen.add(message.name)
    for (const { type } of message.fields) if (typeof type === 'object') visit(messageDescriptor(type.message))
  }
  for (const { group, version, kind } of builtinResources) visit(messageOfKind(apiVersionOf({ group, version }), kind)!)
  t.ok(seen.has('core.v1.Probe'))
  t.ok(seen.size > 200)
  t.end()
})

t.test('a field descriptor has the number, name and type of its data line', (t) => {
  t.strictSame(messageDescriptor('core.v1.Volume').fields, [
    { number: 1, name: 'name', goName: 'Name', label: 'one', pointer: false, omitsEmpty: false, type: 'string' },
    {
      number: 2,
      name: undefined,
      goName: 'VolumeSource',
      label: 'one',
      pointer: false,
      omitsEmpty: false,
      type: { message: 'core.v1.VolumeSource' },
    },
  ])
  t.match(messageDescriptor('meta.v1.ObjectMeta').byNumber.get(5), { name: 'uid', goName: 'UID', omitsEmpty: true })
  t.match(messageDescriptor('meta.v1.ObjectMeta').byNumber.get(9), {
    name: 'deletionTimestamp',
    pointer: true,
    type: { message: 'meta.v1.Time' },
  })
  t.match(messageDescriptor('core.v1.Secret').byNumber.get(2), { name: 'data', label: 'map', type: 'bytes' })
  t.end()
})

t.test('a message descriptor is cached', (t) => {
  t.equal(messageDescriptor('core.v1.Pod'), messageOfKind('v1', 'Pod'))
  t.equal(messageDescriptor('core.v1.Pod').name, 'core.v1.Pod')
  t.end()
})

t.test('types that are registered but not served have no descriptor', (t) => {
  t.ok(isRegistered('apps/v1beta1', 'Deployment'))
  t.ok(isRegistered('v1', 'PodList'))
  t.notOk(isRegistered('apps/v3', 'Deployment'))
  t.notOk(isRegistered('v1', 'Deployment'))
  t.equal(messageOfKind('apps/v1beta1', 'Deployment'), undefined)
  t.equal(messageOfKind('v1', 'PodList'), undefined)
  t.equal(messageOfKind('ex.com/v1', 'DeleteOptions')?.name, 'meta.v1.DeleteOptions')
  t.end()
})

t.test('options, watch events and discovery documents are registered where the scheme of kube-apiserver has them', (t) => {
  const apiVersions = ['v1', 'apps/v1', 'apps/v1beta1', 'ex.com/v1']
  const cases: readonly (readonly [kinds: readonly string[], registeredIn: readonly string[]])[] = [
    [['DeleteOptions', 'Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'], apiVersions],
    [
      ['ListOptions', 'GetOptions', 'CreateOptions', 'UpdateOptions', 'PatchOptions', 'WatchEvent'],
      ['v1', 'apps/v1', 'apps/v1beta1'],
    ],
    [
      [
        'List',
        'NodeProxyOptions',
        'PodAttachOptions',
        'PodExecOptions',
        'PodLogOptions',
        'PodPortForwardOptions',
        'PodProxyOptions',
        'ServiceProxyOptions',
      ],
      ['v1'],
    ],
    [['ListOptionsList', 'Deployments', 'deployment', ''], []],
    [
      ['Deployment', 'DeploymentList'],
      ['apps/v1', 'apps/v1beta1'],
    ],
  ]
  for (const [kinds, registeredIn] of cases) {
    for (const kind of kinds) {
      t.strictSame(
        apiVersions.filter((apiVersion) => isRegistered(apiVersion, kind)),
        registeredIn,
        kind,
      )
    }
  }
  t.end()
})
