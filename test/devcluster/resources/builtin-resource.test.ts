import t from 'tap'
import type { ResourceInfo } from '../../../src/devcluster/rest/resource-info.ts'
import { builtinResource } from '../../../src/devcluster/resources/builtin-resource.ts'

const shown = ({ columns, selectableFields, goType, ...rest }: ResourceInfo): unknown => ({
  ...rest,
  columns: columns.map(({ name, type }) => `${name}:${type}`),
  fields: selectableFields({ metadata: { name: 'a' } }),
  isGoType: goType !== undefined,
})

t.test('a built-in resource is namespaced, of the core group, and has all verbs by default', async (t) => {
  const row = builtinResource({ kind: 'ConfigMap', plural: 'configmaps' })
  t.strictSame(shown(row), {
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    listKind: 'ConfigMapList',
    plural: 'configmaps',
    singular: 'configmap',
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    storageKey: '/configmaps',
    storageVersion: 'v1',
    subresources: {},
    custom: false,
    strategy: {},
    columns: ['Name:string', 'Age:date'],
    fields: {},
    isGoType: true,
  })
  t.ok(Object.isFrozen(row))
})

t.test('a built-in resource keeps what its definition declares', async (t) => {
  const strategy = { generation: true }
  const conversion = { toStorage: (object: object) => object, fromStorage: (object: object) => object } as never
  const row = builtinResource({
    group: 'ex.com',
    version: 'v2beta1',
    kind: 'BigThing',
    plural: 'bigthings',
    shortNames: ['bt'],
    categories: ['all'],
    namespaced: false,
    verbs: ['get'],
    status: true,
    metadataKeptByStatus: ['labels'],
    subresources: { scale: { kind: 'Scale', verbs: ['get'] } },
    strategy,
    columns: [],
    selectableFields: () => ({ a: 'b' }),
    storageKey: '/things',
    conversion,
    deprecationWarning: 'old',
  })
  t.strictSame(shown(row), {
    group: 'ex.com',
    version: 'v2beta1',
    kind: 'BigThing',
    listKind: 'BigThingList',
    plural: 'bigthings',
    singular: 'bigthing',
    shortNames: ['bt'],
    categories: ['all'],
    namespaced: false,
    verbs: ['get'],
    storageKey: '/things',
    storageVersion: 'v2beta1',
    subresources: {
      status: { kind: 'BigThing', verbs: ['get', 'patch', 'update'], keptMetadata: ['labels'] },
      scale: { kind: 'Scale', verbs: ['get'] },
    },
    custom: false,
    strategy,
    conversion,
    deprecationWarning: 'old',
    columns: [],
    fields: { a: 'b' },
    isGoType: false,
  })
})
