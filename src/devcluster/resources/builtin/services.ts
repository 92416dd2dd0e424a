/** The built-in type Service. */
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, forbidden, invalid, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { dns1123Subdomain, shortName } from '../../../api/name-syntax.ts'
import { validateLabels } from '../../../api/object-meta.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, formatLabels, nameColumn, orNone, textColumn } from '../columns.ts'
import { at, listAt, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { objects, validateEnum, validateOptionalEnum, validatePort, validatePortOrName } from './container-validation.ts'

export const services: ResourceInfo = builtinResource({
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
    prepareForCreate: (service) => changeObjectField(service, 'spec', (spec) => withAddress(spec, textAt(service, 'metadata', 'uid'))),
    prepareForUpdate: (service, old) =>
      changeObjectField(service, 'spec', (spec) =>
        withAddress(keepAllocated(spec, isObject(old.spec) ? old.spec : {}), textAt(service, 'metadata', 'uid')),
      ),
    warnings: serviceWarnings,
    validate: (service, old, subresource) => (subresource === 'status' ? [] : validateService(service, old)),
  },
})

function serviceWarnings(service: JsonObject): string[] {
  const isNamed = textAt(service, 'spec', 'externalName') !== '' && textAt(service, 'spec', 'type') !== 'ExternalName'
  return [
    ...(isNamed ? ['spec.externalName is ignored when spec.type is not "ExternalName"'] : []),
    ...(sizeAt(service, 'spec', 'externalIPs') > 0
      ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']
      : []),
  ]
}

function defaultSpec(spec: JsonObject): JsonObject {
  const filled = withDefaults(spec, { type: 'ClusterIP', sessionAffinity: 'None' })
  const routed = filled.type === 'ExternalName' ? filled : withDefaults(filled, { internalTrafficPolicy: 'Cluster' })
  const exposed = isExternal(filled) ? withDefaults(routed, { externalTrafficPolicy: 'Cluster' }) : routed
  const balanced = filled.type === 'LoadBalancer' ? withDefaults(exposed, { allocateLoadBalancerNodePorts: true }) : exposed
  const sticky = filled.sessionAffinity === 'ClientIP' ? withAffinity(balanced) : withoutAffinity(balanced)
  return changeItems(sticky, 'ports', ({ targetPort, ...port }) => ({
    ...withDefaults(port, { protocol: 'TCP' }),
    targetPort: targetPort || (port.port ?? 0),
  }))
}

const affinitySeconds = 10_800

function withAffinity(spec: JsonObject): JsonObject {
  const configured = withDefaults(spec, { sessionAffinityConfig: {} })
  return changeObjectField(configured, 'sessionAffinityConfig', (config) =>
    changeObjectField(withDefaults(config, { clientIP: {} }), 'clientIP', (client) =>
      withDefaults(client, { timeoutSeconds: affinitySeconds }),
    ),
  )
}

function withoutAffinity({ sessionAffinityConfig: _config, ...spec }: JsonObject): JsonObject {
  return spec
}

function hasNodePorts(spec: JsonObject): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer'
}

/** Returns true when the Service can be reached from outside the cluster. */
function isExternal(spec: JsonObject): boolean {
  return hasNodePorts(spec) || listAt(spec, 'externalIPs').length > 0
}

/** Returns true when the load balancer uses a health check to find the nodes that run Pods of the Service. */
function hasHealthCheck(spec: JsonObject): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

const firstNodePort = 30_000
const nodePorts = 2_768

/**
 * Assigns a cluster IP in 10.96.0.0/16 and node ports in 30000-32767, if they are missing. The IP and the ports are derived from the uid.
 * Nothing listens on them.
 */
function withAddress(spec: JsonObject, uid: string): JsonObject {
  if (spec.type === 'ExternalName') return spec
  const digest = createHash('sha256').update(uid).digest()
  const [high = 0, low = 0] = digest
  const address = textAt(spec, 'clusterIP') || `10.96.${high}.${(low % 254) + 1}`
  const isHeadless = address === 'None' && sizeAt(spec, 'selector') === 0
  const addressed = withDefaults({ ...spec, clusterIP: address }, { clusterIPs: [address], ...(isHeadless ? allFamilies : families) })
  const offset = digest.readUInt16BE(2)
  const checked = hasHealthCheck(spec) ? withDefaults(addressed, { healthCheckNodePort: firstNodePort + (offset % nodePorts) }) : addressed
  if (!hasNodePorts(spec) || spec.allocateLoadBalancerNodePorts === false) return checked
  const taken = new Set([at(checked, 'healthCheckNodePort'), ...listAt(spec, 'ports').map((port) => at(port, 'nodePort'))])
  let next = offset % nodePorts
  return changeItems(checked, 'ports', (port) => {
    if (numberAt(port, 'nodePort') !== 0) return port
    while (taken.has(firstNodePort + next)) next = (next + 1) % nodePorts
    taken.add(firstNodePort + next)
    return { ...port, nodePort: firstNodePort + next }
  })
}

/** The IP families of a headless Service without a selector. The endpoints of such a Service can be in any family. */
const allFamilies = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' }
const families = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }

/** Keeps allocated cluster IPs and ports that an update omits. Removes the fields that `unusedFields` returns. */
function keepAllocated(spec: JsonObject, old: JsonObject): JsonObject {
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = old
  const unused = unusedFields(spec, old)
  const dropped = unused.length === 0 ? spec : Object.fromEntries(Object.entries(spec).filter(([field]) => !unused.includes(field)))
  if (dropped.type === 'ExternalName') return changeItems(dropped, 'ports', ({ nodePort: _nodePort, ...port }) => port)
  const kept = withDefaults(dropped, old.type === 'ExternalName' ? {} : { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy })
  // `clusterIP` and `clusterIPs[0]` must be equal. If an update changes only `clusterIP`, the new value is copied to `clusterIPs`.
  const synced =
    kept.clusterIP !== clusterIP && jsonEqual(kept.clusterIPs ?? null, clusterIPs ?? null)
      ? { ...kept, clusterIPs: [kept.clusterIP!] }
      : kept
  const byName = new Map(listAt(old, 'ports').map((port) => [textAt(port, 'name'), at(port, 'nodePort')]))
  return changeItems(synced, 'ports', (port) => {
    const before = byName.get(textAt(port, 'name'))
    if (hasNodePorts(kept)) return hasNodePorts(old) ? withDefaults(port, { nodePort: before }) : port
    if (before === undefined || port.nodePort !== before) return port
    const { nodePort: _nodePort, ...rest } = port
    return rest
  })
}

/** Returns the names of the fields that the new spec does not use and that the update does not change. */
function unusedFields(spec: JsonObject, old: JsonObject): string[] {
  const fields = [...(hasHealthCheck(spec) ? [] : ['healthCheckNodePort']), ...(spec.type === old.type ? [] : fieldsOfOtherTypes(spec))]
  return fields.filter((field) => jsonEqual(spec[field] ?? null, old[field] ?? null))
}

function fieldsOfOtherTypes(spec: JsonObject): string[] {
  return [
    ...(spec.type === 'ExternalName' ? ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'] : []),
    ...(isExternal(spec) ? [] : ['externalTrafficPolicy']),
    ...(spec.type === 'LoadBalancer' ? [] : ['allocateLoadBalancerNodePorts', 'loadBalancerClass']),
  ]
}

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']

function validateService(service: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = isObject(service.spec) ? service.spec : {}
  const errors = validatePorts(spec)
  const { type, externalName, clusterIPs } = spec
  if (type === 'ExternalName') {
    if (textAt(spec, 'externalName') === '') errors.push(required('spec.externalName'))
    else errors.push(...dns1123Subdomain(String(externalName)).map((detail) => invalid('spec.externalName', externalName, detail)))
    for (const [field, isSet] of [
      ['clusterIPs', at(spec, 'clusterIPs') !== undefined || textAt(spec, 'clusterIP') !== ''],
      ['ipFamilies', at(spec, 'ipFamilies') !== undefined],
      ['ipFamilyPolicy', at(spec, 'ipFamilyPolicy') !== undefined],
    ] as const)
      if (isSet) errors.push(forbidden(`spec.${field}`, 'may not be set for ExternalName services'))
  }
  errors.push(...validateLabels(spec.selector, 'spec.selector'))
  if (service.spec !== undefined) {
    errors.push(...validateEnum(spec, 'sessionAffinity', 'spec', ['ClientIP', 'None']), ...validateEnum(spec, 'type', 'spec', types))
  }
  for (const [index, address] of listAt(spec, 'clusterIPs').entries()) {
    if (address === 'None' && index === 0) continue
    if (isIP(String(address)) === 0) errors.push(invalid(`spec.clusterIPs[${index}]`, address, noAddress))
  }
  errors.push(...validateAddresses(spec))
  const before = listAt(old, 'spec', 'clusterIPs')
  if (type !== 'ExternalName' && textAt(old, 'spec', 'type') !== 'ExternalName' && before.length > 0 && before[0] !== at(spec, 'clusterIP'))
    errors.push(invalid('spec.clusterIPs[0]', clusterIPs, 'may not change once set'))
  const policy = textAt(spec, 'externalTrafficPolicy')
  if (policy !== '' && !isExternal(spec))
    errors.push(invalid('spec.externalTrafficPolicy', policy, 'may only be set for externally-accessible services'))
  else if (policy !== '') errors.push(...validateOptionalEnum(spec, 'externalTrafficPolicy', 'spec', ['Cluster', 'Local']))
  errors.push(...validateOptionalEnum(spec, 'internalTrafficPolicy', 'spec', ['Cluster', 'Local']))
  return [...errors, ...validateBalancing(spec, old)]
}

/** Validates the fields that only a LoadBalancer may have. */
function validateBalancing(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const errors: FieldError[] = []
  const { healthCheckNodePort: port, loadBalancerClass: name } = spec
  if (typeof port === 'number' && !hasHealthCheck(spec))
    errors.push(
      invalid('spec.healthCheckNodePort', port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"),
    )
  if (spec.type === 'LoadBalancer') {
    const isOther = textAt(old, 'spec', 'type') === 'LoadBalancer' && !jsonEqual(name ?? null, at(old, 'spec', 'loadBalancerClass') ?? null)
    return isOther ? [...errors, invalid('spec.loadBalancerClass', name ?? null, 'may not change once set')] : errors
  }
  for (const [field, path] of [
    ['allocateLoadBalancerNodePorts', 'allocateLoadBalancerNodePorts'],
    ['loadBalancerClass', 'loadBalancerClass'],
    // In kube-apiserver's error, this path begins with a capital letter.
    ['loadBalancerSourceRanges', 'LoadBalancerSourceRanges'],
  ] as const)
    if (at(spec, field) !== undefined) errors.push(forbidden(`spec.${path}`, "may only be used when `type` is 'LoadBalancer'"))
  return errors
}

const noAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

function validateAddresses(spec: JsonObject): FieldError[] {
  const [address, addresses] = [textAt(spec, 'clusterIP'), listAt(spec, 'clusterIPs')]
  const errors: FieldError[] = []
  if (address !== '' && addresses.length > 0 && addresses[0] !== address)
    errors.push(invalid('spec.clusterIPs', [...addresses], 'first value must match `clusterIP`'))
  if (address === 'None' && hasNodePorts(spec))
    errors.push(invalid('spec.clusterIPs[0]', address, `may not be set to 'None' for ${String(spec.type)} services`))
  for (const [index, external] of listAt(spec, 'externalIPs').entries())
    if (isIP(String(external)) === 0) errors.push(invalid(`spec.externalIPs[${index}]`, external, noAddress))
  return errors
}

function validatePorts(spec: JsonObject): FieldError[] {
  const list = listAt(spec, 'ports')
  const errors: FieldError[] = []
  if (list.length === 0 && spec.type !== 'ExternalName' && spec.clusterIP !== 'None') errors.push(required('spec.ports'))
  const names = new Set<string>()
  const numbers = new Set<string>()
  for (const [port, index] of objects(list)) {
    const here = `spec.ports[${index}]`
    const name = textAt(port, 'name')
    if (name === '' && list.length > 1) errors.push(required(`${here}.name`))
    errors.push(...(name === '' ? [] : shortName(name).map((detail) => invalid(`${here}.name`, name, detail))))
    if (name !== '' && names.has(name)) errors.push(duplicate(`${here}.name`, name))
    names.add(name)
    errors.push(...validatePort(port.port ?? 0, `${here}.port`), ...validateEnum(port, 'protocol', here, ['SCTP', 'TCP', 'UDP']))
    errors.push(...validatePortOrName(port.targetPort, `${here}.targetPort`))
    if (spec.type === 'ClusterIP' && numberAt(port, 'nodePort') !== 0)
      errors.push(forbidden(`${here}.nodePort`, "may not be used when `type` is 'ClusterIP'"))
    const number = `${textAt(port, 'protocol')}/${numberAt(port, 'port')}`
    if (numbers.has(number)) errors.push(samePort(here, port))
    numbers.add(number)
  }
  return errors
}

/** Returns the error about a duplicate port. The message contains all fields of kube-apiserver's internal type ServicePort. */
function samePort(path: string, port: JsonObject): FieldError {
  const printed = { Name: '', Protocol: port.protocol, AppProtocol: null, Port: port.port, TargetPort: 0, NodePort: 0 }
  return { path, reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(printed)}` }
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
