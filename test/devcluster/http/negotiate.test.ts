/** The `Accept` header. */
import t from 'tap'
import { negotiate, negotiateDiscovery } from '../../../src/devcluster/http/negotiate.ts'
import { StatusError } from '../../../src/devcluster/registry/status-error.ts'

const offers = { transformations: true, stream: false }
const json = { as: 'object', encoding: 'json' }
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

const cases: [accept: string | undefined, form: object][] = [
  [undefined, json],
  ['', json],
  ['*/*', json],
  ['application/json', json],
  ['application/vnd.kubernetes.protobuf,application/json', json],
  ['application/yaml', { as: 'object', encoding: 'yaml' }],
  ['application/json;q=0.1,application/yaml', { as: 'object', encoding: 'yaml' }],
  [`${table},${table.replace('v1', 'v1beta1')},application/json`, { as: 'table', version: 'v1' }],
  [table.replace('v1', 'v1beta1'), { as: 'table', version: 'v1beta1' }],
  [table.replace('v1', 'v9') + ',application/json', json],
  [
    'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    { as: 'partial', version: 'v1' },
  ],
]

t.test('the first form that is known is taken', (t) => {
  for (const [accept, form] of cases) t.same(negotiate(accept, offers), form, accept ?? 'no header')
  t.end()
})

t.test('406 when there is none', (t) => {
  const refused = (accept: string, given = offers): string => {
    try {
      negotiate(accept, given)
    } catch (error) {
      if (error instanceof StatusError && error.status.code === 406) return error.message
    }
    return 'accepted'
  }
  const known = 'only the following media types are accepted: application/json, application/yaml'
  t.equal(refused('text/xml'), '406: Not Acceptable')
  t.equal(refused('application/vnd.kubernetes.protobuf'), known)
  t.equal(refused(table, { transformations: false, stream: false }), known)
  t.equal(refused('application/yaml', { transformations: true, stream: true }), known)
  t.end()
})

t.test('discovery: aggregated in the version that is asked for first, else the legacy documents', (t) => {
  const aggregated = (version: string): string => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  t.equal(negotiateDiscovery(`${aggregated('v2')},${aggregated('v2beta1')},application/json`), 'v2')
  t.equal(negotiateDiscovery(`${aggregated('v3')},${aggregated('v2beta1')},application/json`), 'v2beta1')
  t.equal(negotiateDiscovery('application/json'), 'legacy')
  t.equal(negotiateDiscovery(undefined), 'legacy')
  t.throws(() => negotiateDiscovery('text/xml'), StatusError)
  t.end()
})
