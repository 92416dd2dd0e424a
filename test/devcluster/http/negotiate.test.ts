/** Tests of how the `Accept` header selects the form of a response. */
import t from 'tap'
import { acceptsAggregated, encodingOfError, negotiate } from '../../../src/devcluster/http/negotiate.ts'
import type { Offers } from '../../../src/devcluster/http/negotiate.ts'
import type { StatusError } from '../../../src/devcluster/apimachinery/status-error.ts'

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

cases.push(
  ['application/json; q=0.5, application/yaml; q=0.7', { as: 'object', encoding: 'yaml' }],
  ['application/json;q=x,application/yaml;q=0.1', { as: 'object', encoding: 'yaml' }],
  ['application/yaml,application/json', { as: 'object', encoding: 'yaml' }],
  [' APPLICATION/JSON ', json],
  ['text/xml,*/*', json],
  [
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1',
    { as: 'partial', version: 'v1beta1', kind: 'PartialObjectMetadata', encoding: 'json' },
  ],
  [`${table.replace('meta.k8s.io', 'x')},application/yaml`, { as: 'object', encoding: 'yaml' }],
  ['application/json;as=Other;g=meta.k8s.io;v=v1,application/yaml', { as: 'object', encoding: 'yaml' }],
)

t.test('only offered media types are negotiated', (t) => {
  t.strictSame(negotiate('application/*', {}), json)
  t.strictSame(negotiate('application/yaml,application/json', { stream: true }), json)
  t.strictSame(negotiate(`${table},application/json`, {}), json)
  t.strictSame(negotiate('application/vnd.kubernetes.protobuf', { route: 'document' }), json)
  t.strictSame(negotiate(undefined, { route: 'collection', stream: true }), json)
  t.end()
})

t.test('the first supported media type is chosen', (t) => {
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
  ['text/xml', { stream: true }, `${only}${produced}`],
  ['application/json;as=Table', offers, `${only}${produced}`],
]

t.test('an Accept header without a supported media type is refused with 406', (t) => {
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

t.test('an error is encoded as a plain media type that the client accepts', (t) => {
  t.equal(encodingOfError('application/yaml'), 'yaml')
  t.equal(encodingOfError(`${table.replace('json', 'yaml')},application/json`), 'json')
  t.equal(encodingOfError('text/xml'), undefined)
  t.equal(encodingOfError(undefined), 'json')
  t.equal(encodingOfError('application/*'), 'json')
  t.equal(encodingOfError('application/vnd.kubernetes.protobuf'), undefined)
  t.equal(encodingOfError('application/vnd.kubernetes.protobuf,application/yaml'), 'yaml')
  t.equal(encodingOfError(table), undefined)
  t.end()
})

t.test('aggregated discovery is chosen at any position of the Accept header', (t) => {
  const aggregated = (version: string): string => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
  t.equal(acceptsAggregated(`${aggregated('v2')},${aggregated('v2beta1')},application/json`), true)
  t.equal(acceptsAggregated(`application/yaml,${aggregated('v2')}`), true)
  t.equal(acceptsAggregated(`${aggregated('v2beta1')},application/json`), false)
  t.equal(acceptsAggregated(undefined), false)
  t.equal(acceptsAggregated(aggregated('v2').replace('application/json', 'application/vnd.kubernetes.protobuf')), true)
  t.equal(acceptsAggregated(aggregated('v2').replace('application/json', 'application/yaml')), false)
  t.equal(acceptsAggregated(aggregated('v2').replace('apidiscovery.k8s.io', 'x')), false)
  t.equal(acceptsAggregated(aggregated('v2').replace('APIGroupDiscoveryList', 'Table')), false)
  t.end()
})
