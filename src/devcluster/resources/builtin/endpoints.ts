/** The built-in types Endpoints and EndpointSlice. */
import type { FieldError } from '../../../api/field-error.ts'
import { notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, nameColumn, textColumn } from '../columns.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { immutable, validateEnum } from './field-checks.ts'

/** Maximum number of items in a table cell. */
const shown = 3

function some(list: readonly string[], none: string): string {
  if (list.length === 0) return none
  return list.length <= shown ? list.join(',') : `${list.slice(0, shown).join(',')} + ${list.length - shown} more...`
}

const endpoints = builtinResource({
  kind: 'Endpoints',
  plural: 'endpoints',
  shortNames: ['ep'],
  deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  columns: [nameColumn, textColumn('Endpoints', (object) => some(addresses(object), '<none>')), ageColumn],
  strategy: {
    default: (object) =>
      changeItems(object, 'subsets', (subset) => changeItems(subset, 'ports', (port) => withDefaults(port, { protocol: 'TCP' }))),
  },
})

function addresses(object: JsonObject): string[] {
  return listAt(object, 'subsets').flatMap((subset: JsonValue) => {
    const ips = listAt(subset, 'addresses').map((address) => textAt(address, 'ip'))
    const ports = listAt(subset, 'ports').map((port) => numberAt(port, 'port'))
    return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)))
  })
}

const addressTypes = ['FQDN', 'IPv4', 'IPv6']

const endpointSlices = builtinResource({
  group: 'discovery.k8s.io',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  columns: [
    nameColumn,
    textColumn('AddressType', (slice) => textAt(slice, 'addressType')),
    textColumn('Ports', (slice) =>
      some(
        listAt(slice, 'ports').map((port) => String(at(port, 'port') ?? (textAt(port, 'name') || '*'))),
        '<unset>',
      ),
    ),
    textColumn('Endpoints', (slice) =>
      some(
        listAt(slice, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses').map(String)),
        '<unset>',
      ),
    ),
    ageColumn,
  ],
  strategy: {
    generation: true,
    default: (slice) =>
      changeItems(
        changeItems(slice, 'endpoints', (endpoint) => withDefaults(endpoint, { conditions: {} })),
        'ports',
        (port) => withDefaults(port, { name: '', protocol: 'TCP' }),
      ),
    prepareForCreate: withoutEmptyLists,
    prepareForUpdate: withoutEmptyLists,
    warnings: (slice) => (slice.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    validate: validateSlice,
  },
})

/**
 * Replaces empty and missing lists with null. In Kubernetes, etcd stores EndpointSlices as protobuf. Protobuf does not distinguish an empty
 * list from a missing list, so kube-apiserver returns null in both cases.
 */
function withoutEmptyLists(slice: JsonObject): JsonObject {
  const orNull = (field: string): JsonValue => (listAt(slice, field).length === 0 ? null : slice[field]!)
  return { ...slice, endpoints: orNull('endpoints'), ports: orNull('ports') }
}

function validateSlice(slice: JsonObject, old: JsonObject | undefined): FieldError[] {
  const type = textAt(slice, 'addressType')
  const errors: FieldError[] = []
  if (type === '') errors.push(required('addressType'))
  else if (!addressTypes.includes(type)) errors.push(notSupported('addressType', type, addressTypes))
  if (old !== undefined) errors.push(...immutable(slice.addressType, old.addressType, 'addressType'))
  for (const [index, port] of listAt(slice, 'ports').entries())
    if (isObject(port)) errors.push(...validateEnum(port, 'protocol', `ports[${index}]`, ['SCTP', 'TCP', 'UDP']))
  for (const [index, endpoint] of listAt(slice, 'endpoints').entries()) {
    if (listAt(endpoint, 'addresses').length === 0)
      errors.push(required(`endpoints[${index}].addresses`, 'must contain at least 1 address'))
  }
  return errors
}

export const endpointResources: readonly ResourceInfo[] = [endpoints, endpointSlices]
