/** Services and Endpoints. */
import { createHash } from 'node:crypto'
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { shortName } from '../../../api/names.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, at, formatLabels, listAt, nameColumn, numberAt, orNone, textAt, textColumn } from '../columns.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaults.ts'
import type { ResourceInfo } from '../resource-info.ts'
import { objects, validateEnum, validatePort } from './container-validation.ts'

const services = builtinResource({
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  status: true,
  columns: [
    nameColumn,
    textColumn('Type', (service) => textAt(service, 'spec', 'type')),
    textColumn('Cluster-IP', (service) => orNone(textAt(service, 'spec', 'clusterIP'))),
    textColumn('External-IP', externalAddress),
    textColumn('Port(s)', ports),
    ageColumn,
    textColumn('Selector', (service) => formatLabels(at(service, 'spec', 'selector')), 1),
  ],
  selectableFields: (service) => ({ 'spec.clusterIP': textAt(service, 'spec', 'clusterIP'), 'spec.type': textAt(service, 'spec', 'type') }),
  strategy: {
    name: shortName,
    returnsDeleted: true,
    default: (service) => changeObjectField(service, 'spec', defaultSpec),
    prepareForCreate: (service) => ({
      ...changeObjectField(service, 'spec', (spec) => withAddress(spec, textAt(service, 'metadata', 'uid'))),
      status: { loadBalancer: {} },
    }),
    prepareForUpdate: (service, old) =>
      changeObjectField(service, 'spec', (spec) =>
        withDefaults(spec, { clusterIP: at(old, 'spec', 'clusterIP'), clusterIPs: at(old, 'spec', 'clusterIPs') }),
      ),
    validate: (service) => validateService(service),
  },
})

const endpoints = builtinResource({
  kind: 'Endpoints',
  plural: 'endpoints',
  shortNames: ['ep'],
  columns: [nameColumn, textColumn('Endpoints', (object) => orNone(addresses(object).join(','))), ageColumn],
})

export const serviceResources: readonly ResourceInfo[] = [services, endpoints]

function defaultSpec(spec: JsonObject): JsonObject {
  const filled = withDefaults(spec, { type: 'ClusterIP', sessionAffinity: 'None' })
  const routed = filled.type === 'ExternalName' ? filled : withDefaults(filled, { internalTrafficPolicy: 'Cluster' })
  const external = ['NodePort', 'LoadBalancer'].includes(String(filled.type))
    ? withDefaults(routed, { externalTrafficPolicy: 'Cluster' })
    : routed
  return changeItems(external, 'ports', (port) => withDefaults(port, { protocol: 'TCP', targetPort: port.port }))
}

/** Nothing listens there, but it looks as it should: an address of the usual service range, the same for the same service. */
function withAddress(spec: JsonObject, uid: string): JsonObject {
  if (spec.type === 'ExternalName') return spec
  const [high = 0, low = 0] = createHash('sha256').update(uid).digest()
  const address = textAt(spec, 'clusterIP') || `10.96.${high}.${(low % 254) + 1}`
  return withDefaults({ ...spec, clusterIP: address }, { clusterIPs: [address], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
}

function validateService(service: JsonObject): FieldError[] {
  const spec = isObject(service.spec) ? service.spec : {}
  const list = listAt(spec, 'ports')
  const errors: FieldError[] = []
  if (list.length === 0 && spec.type !== 'ExternalName' && spec.clusterIP !== 'None') errors.push(required('spec.ports'))
  const names = new Set<string>()
  for (const [port, index] of objects(list)) {
    const here = `spec.ports[${index}]`
    const name = textAt(port, 'name')
    if (name === '' && list.length > 1) errors.push(required(`${here}.name`))
    if (name !== '' && names.has(name)) errors.push(duplicate(`${here}.name`, name))
    names.add(name)
    errors.push(...validatePort(port.port ?? 0, `${here}.port`), ...validateEnum(port, 'protocol', here, ['SCTP', 'TCP', 'UDP']))
  }
  if (spec.type === 'ExternalName' && textAt(spec, 'externalName') === '') errors.push(required('spec.externalName'))
  return [
    ...errors,
    ...(service.spec === undefined ? [] : validateEnum(spec, 'type', 'spec', ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'])),
  ]
}

function externalAddress(service: JsonObject): string {
  const type = textAt(service, 'spec', 'type')
  if (type === 'ExternalName') return textAt(service, 'spec', 'externalName')
  const ingress = listAt(service, 'status', 'loadBalancer', 'ingress').map((entry) => textAt(entry, 'ip') || textAt(entry, 'hostname'))
  const external = [...ingress, ...listAt(service, 'spec', 'externalIPs').map(String)]
  if (external.length > 0) return external.join(',')
  return type === 'LoadBalancer' ? '<pending>' : '<none>'
}

function ports(service: JsonObject): string {
  const texts = listAt(service, 'spec', 'ports').map((port) => {
    const node = numberAt(port, 'nodePort')
    return `${numberAt(port, 'port')}${node === 0 ? '' : `:${node}`}/${textAt(port, 'protocol')}`
  })
  return orNone(texts.join(','))
}

function addresses(object: JsonObject): string[] {
  return listAt(object, 'subsets').flatMap((subset: JsonValue) =>
    listAt(subset, 'addresses').flatMap((address) => {
      const list = listAt(subset, 'ports').map((port) => `${textAt(address, 'ip')}:${numberAt(port, 'port')}`)
      return list.length === 0 ? [textAt(address, 'ip')] : list
    }),
  )
}
