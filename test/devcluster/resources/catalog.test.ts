import t from 'tap'
import { builtinResources } from '../../../src/devcluster/resources/builtin/index.ts'
import { Catalog, compareVersions } from '../../../src/devcluster/resources/catalog.ts'
import type { Strategy } from '../../../src/devcluster/rest/strategy.ts'
import { foos } from '../../support/devcluster/registry.ts'

t.test('the catalog finds resources by plural and by kind, and notifies of changes', async (t) => {
  const catalog = new Catalog(builtinResources)
  t.match(catalog.find('', 'v1', 'pods'), { kind: 'Pod' })
  t.match(catalog.byKind('apps', 'v1', 'Deployment'), { plural: 'deployments' })
  t.equal(catalog.find('apps', 'v1', 'pods'), undefined)
  let notified = 0
  const before = catalog.generation
  const leave = catalog.onChange(() => (notified += 1))
  catalog.add(foos)
  catalog.add({ ...foos, version: 'v2' })
  catalog.remove('ex.com', 'foos')
  catalog.remove('ex.com', 'foos')
  t.equal(catalog.byKind('ex.com', 'v1', 'Foo'), undefined)
  t.equal(catalog.generation - before, 3, 'the removal of an unknown resource is no change')
  t.equal(notified, 3)
  leave()
  catalog.add(foos)
  t.equal(notified, 3)
})

t.test('the core group and the preferred versions come first', async (t) => {
  const catalog = new Catalog(['v1beta1', 'v1', 'v2alpha1'].map((version) => ({ ...foos, version })))
  catalog.add({ ...foos, group: '', version: 'v1', plural: 'bars' })
  t.strictSame(catalog.groups(), [
    { name: '', versions: ['v1'] },
    { name: 'ex.com', versions: ['v1', 'v1beta1', 'v2alpha1'] },
  ])
  t.strictSame(
    ['foo1', 'v10', 'v1alpha1', 'v2', 'v3beta1', 'v1', 'v11alpha2', 'foo10', 'v12alpha1', 'v3beta2', 'v10beta3', 'v11beta2'].sort(
      compareVersions,
    ),
    ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta2', 'v3beta1', 'v12alpha1', 'v11alpha2', 'v1alpha1', 'foo1', 'foo10'],
  )
})

t.test('every built-in resource is complete', async (t) => {
  const keys = new Set(builtinResources.map(({ group, plural }) => `${group}/${plural}`))
  t.equal(keys.size, builtinResources.length, 'no resource is repeated')
  for (const row of builtinResources) {
    t.equal(row.storageKey, row.conversion === undefined ? `${row.group}/${row.plural}` : '/events')
    t.ok(
      row.columns.some(({ name }) => name === 'Name'),
      row.plural,
    )
    const fields = Object.keys(row.selectableFields({}))
    t.strictSame(Object.keys(row.selectableFields({ metadata: {}, spec: {}, status: {} })), fields, 'the same fields for every object')
    for (const column of row.columns)
      t.doesNotThrow(() => column.cell({ metadata: { name: 'x' } }, 0), `${row.plural} ${column.name} of an empty object`)
    t.doesNotThrow(() => row.strategy.default?.({ metadata: {}, spec: null, webhooks: 'x' }), row.plural)
    t.doesNotThrow(() => row.strategy.validate?.({ metadata: {} }, undefined, ''), row.plural)
  }
})

t.test('the removal of a type, or of one version, keeps the others', (t) => {
  const [pods, secrets] = ['pods', 'secrets'].map((plural) => builtinResources.find((row) => row.plural === plural)!)
  const catalog = new Catalog([pods!, secrets!, { ...pods!, version: 'v2' }, { ...pods!, group: 'ex.com' }])
  const left = (): string[] => catalog.all().map(({ group, version, plural }) => `${group}/${version}/${plural}`)
  catalog.remove('', 'pods', 'v2')
  t.strictSame(left(), ['/v1/pods', '/v1/secrets', 'ex.com/v1/pods'])
  const { generation } = catalog
  catalog.remove('', 'pods', 'v3')
  t.equal(catalog.generation, generation, 'nothing was removed')
  catalog.remove('', 'pods')
  t.strictSame(left(), ['/v1/secrets', 'ex.com/v1/pods'])
  t.equal(catalog.generation, generation + 1)
  t.equal(catalog.byKind('', 'v1', 'Pod'), undefined)
  t.equal(catalog.byKind('', 'v1', 'Secret'), secrets)
  t.end()
})

t.test('the types with an own treatment of deletions, generations, status and grace periods are those of Kubernetes', (t) => {
  const typesWith = (member: keyof Strategy): string[] =>
    builtinResources
      .filter(({ strategy }) => strategy[member] !== undefined && strategy[member] !== false)
      .map(({ group, plural }) => `${group}/${plural}`)
      .sort()
  t.strictSame(typesWith('returnsDeleted'), [
    '/namespaces',
    '/persistentvolumeclaims',
    '/persistentvolumes',
    '/pods',
    '/podtemplates',
    '/resourcequotas',
    '/serviceaccounts',
    '/services',
    'storage.k8s.io/storageclasses',
  ])
  t.strictSame(typesWith('generation'), [
    '/pods',
    '/replicationcontrollers',
    'admissionregistration.k8s.io/mutatingwebhookconfigurations',
    'admissionregistration.k8s.io/validatingwebhookconfigurations',
    'apps/daemonsets',
    'apps/deployments',
    'apps/replicasets',
    'apps/statefulsets',
    'batch/cronjobs',
    'batch/jobs',
    'discovery.k8s.io/endpointslices',
    'networking.k8s.io/ingresses',
    'networking.k8s.io/networkpolicies',
    'policy/poddisruptionbudgets',
    'scheduling.k8s.io/priorityclasses',
  ])
  t.strictSame(typesWith('keepsStatus'), ['/nodes'])
  t.strictSame(typesWith('gracePeriodSeconds'), ['/pods'])
  t.strictSame(typesWith('orphansDependents'), ['/replicationcontrollers', 'batch/jobs'])
  t.strictSame(typesWith('deletionWarnings'), ['batch/jobs'])
  t.strictSame(typesWith('heldBy'), ['/namespaces'])
  t.strictSame(typesWith('canDelete'), ['/namespaces'])
  t.end()
})

t.test('a listener may leave twice, and another one stays', (t) => {
  const catalog = new Catalog()
  const calls: string[] = []
  const leave = catalog.onChange(() => calls.push('a'))
  catalog.onChange(() => calls.push('b'))
  leave()
  leave()
  catalog.add(foos)
  t.strictSame(calls, ['b'])
  t.equal(catalog.generation, 1)
  catalog.add({ ...foos, kind: 'Bar' })
  t.equal(catalog.byKind('ex.com', 'v1', 'Foo'), undefined, 'the kind of a replaced row is forgotten')
  t.equal(catalog.byKind('ex.com', 'v1', 'Bar')?.plural, 'foos')
  t.equal(catalog.all().length, 1)
  t.end()
})
