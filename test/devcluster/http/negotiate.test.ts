/** The `Accept` header. */
import t from 'tap'
import { acceptsAggregated, encodingOfError, negotiate } from '../../../src/devcluster/http/negotiate.ts'
import type { Offers } from '../../../src/devcluster/http/negotiate.ts'
import type { StatusError } from '../../../src/devcluster/registry/status-error.ts'

const offers: Offers = { transformations: true, route: 'object' }
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
  ['application/json;q=0', json],
  ['application/vnd.kubernetes.protobuf', json],
  [`${table},${table.replace('v1', 'v1beta1')},application/json`, { as: 'table', version: 'v1', encoding: 'json' }],
  [table.replace('v1', 'v1beta1'), { as: 'table', version: 'v1beta1', encoding: 'json' }],
  [table.replace('json', 'yaml'), { as: 'table', version: 'v1', encoding: 'yaml' }],
  [table.replace('v1', 'v9') + ',application/json', json],
  [
    'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    { as: 'partial', version: 'v1', kind: 'PartialObjectMetadataList', encoding: 'json' },
  ],
]

t.test('the first form that is known is taken', (t) => {
  for (const [accept, form] of cases) t.strictSame(negotiate(accept, offers), form, accept ?? 'no header')
  t.end()
})

const produced = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
const streamed = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'
const only = 'only the following media types are accepted: '
const routed = '406: Not Acceptable\n\nAvailable representations: '

const refusals: [accept: string, offers: Offers, message: string][] = [
  ['text/xml', offers, `${routed}${produced}`],
  ['application/*', offers, `${routed}${produced}`],
  ['text/xml', { route: 'collection' }, `${routed}${produced}, ${streamed}`],
  ['text/xml', { route: 'document' }, `${only}${produced}`],
  ['text/xml', {}, `${only}${produced}`],
  ['application/vnd.kubernetes.protobuf', {}, `${only}${produced}`],
  [table, { route: 'object' }, `${only}${produced}`],
  [table.replace('v1', 'v9'), offers, `${only}${produced}`],
  ['application/yaml', { ...offers, stream: true }, `${only}${streamed}`],
]

t.test('406 when there is none', (t) => {
  for (const [accept, given, message] of refusals) {
    try {
      negotiate(accept, given)
      t.fail(`accepted ${accept}`)
    } catch (error) {
      t.match((error as StatusError).status, { code: 406, message }, accept)
    }
  }
  t.end()
})

t.test('errors are told in an encoding that is accepted as such', (t) => {
  t.equal(encodingOfError('application/yaml'), 'yaml')
  t.equal(encodingOfError(`${table.replace('json', 'yaml')},application/json`), 'json')
  t.equal(encodingOfError('text/xml'), undefined)
  t.end()
})

t.test('discovery is aggregated for whoever takes it so, even after other forms', (t) => {
  const aggregated = (version: string): string => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  t.equal(acceptsAggregated(`${aggregated('v2')},${aggregated('v2beta1')},application/json`), true)
  t.equal(acceptsAggregated(`application/yaml,${aggregated('v2')}`), true)
  t.equal(acceptsAggregated(`${aggregated('v2beta1')},application/json`), false)
  t.equal(acceptsAggregated(undefined), false)
  t.end()
})
