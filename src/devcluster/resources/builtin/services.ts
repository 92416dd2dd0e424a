/** The built-in type Service. */
import { createHash } from 'node:crypto'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject, jsonEqual } from '../../../api/json.ts'
import { shortName } from '../../../api/name-syntax.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, formatLabels, nameColumn, orNone, textColumn } from '../columns.ts'
import { internalError } from '../../apimachinery/status-error.ts'
import { at, listAt, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import type { ClusterView } from '../../rest/strategy.ts'
import { familyOf, firstNodePort, isOpenHeadless, nodePorts } from './service-addresses.ts'
import { hasHealthCheck, hasNodePorts, isExternal } from './service-types.ts'
import { validateService } from './service-validation.ts'

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
    prepareForCreate: (service, _context, cluster) => changeObjectField(service, 'spec', (spec) => withAddress(spec, service, cluster)),
    prepareForUpdate: (service, old, _subresource, _now, cluster) =>
      changeObjectField(service, 'spec', (spec) => withAddress(keepAllocated(spec, isObject(old.spec) ? old.spec : {}), service, cluster)),
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

/**
 * Assigns the cluster IP and the node ports of a Service, if they are missing. The cluster IP is in 10.96.0.0/16, but not in 10.96.0.0/24,
 * whose addresses have fixed meanings. Node ports are in 30000-32767. The IP and the ports are derived from the uid. If another Service
 * already has the IP or a port, the next free IP or port is assigned.
 */
function withAddress(spec: JsonObject, { metadata }: JsonObject, cluster: ClusterView): JsonObject {
  if (spec.type === 'ExternalName') return withoutInternalPolicy(spec)
  const uid = textAt(metadata, 'uid')
  const digest = createHash('sha256').update(uid).digest()
  const [family = 'IPv4'] = listAt(spec, 'ipFamilies')
  const isAsked = textAt(spec, 'clusterIP') !== '' || sizeAt(spec, 'clusterIPs') > 0 || family !== 'IPv4'
  const others = (): readonly JsonObject[] => cluster.list('/services').filter((one) => textAt(one, 'metadata', 'uid') !== uid)
  const given = isAsked ? spec : withClusterIP(spec, freeAddress(digest, others()))
  const named = textAt(given, 'clusterIP')
  const addressed = withFamilies(named === '' ? given : withDefaults(given, { clusterIPs: [named] }))
  const allocate = nodePortAllocator(digest, addressed, others)
  const needsCheckPort = hasHealthCheck(spec) && numberAt(addressed, 'healthCheckNodePort') === 0
  const checked = needsCheckPort ? { ...addressed, healthCheckNodePort: allocate() } : addressed
  if (!hasNodePorts(spec) || spec.allocateLoadBalancerNodePorts === false) return checked
  return changeItems(checked, 'ports', (port) => (numberAt(port, 'nodePort') === 0 ? { ...port, nodePort: allocate() } : port))
}

/**
 * Returns a function that returns the next free node port. The search begins at the port that is derived from `digest`. A port is free if
 * neither this Service nor another Service has it. The other Services are read at the first call.
 */
function nodePortAllocator(digest: Buffer, spec: JsonObject, others: () => readonly JsonObject[]): () => number {
  let taken: Set<number> | undefined
  let next = digest.readUInt16BE(2) % nodePorts
  return () => {
    taken ??= new Set([...nodePortsOf(spec), ...others().flatMap((one) => nodePortsOf(one.spec ?? {}))])
    if (taken.size >= nodePorts) throw internalError('failed to allocate a nodePort: range is full')
    while (taken.has(firstNodePort + next)) next = (next + 1) % nodePorts
    taken.add(firstNodePort + next)
    return firstNodePort + next
  }
}

function withClusterIP(spec: JsonObject, address: string): JsonObject {
  return { ...spec, clusterIP: address, clusterIPs: [address] }
}

/** The number of cluster IPs that can be assigned to Services. */
const addresses = 255 * 254

/**
 * Returns the first free address. The search begins at the address that is derived from the first bytes of `digest`. An address is free if
 * no other Service has it.
 */
function freeAddress(digest: Buffer, others: readonly JsonObject[]): string {
  const taken = new Set(others.map((one) => textAt(one, 'spec', 'clusterIP')))
  const first = (digest[0]! % 255) * 254 + (digest[1]! % 254)
  for (let tried = 0; tried < addresses; tried += 1) {
    const index = (first + tried) % addresses
    const address = `10.96.${Math.floor(index / 254) + 1}.${(index % 254) + 1}`
    if (!taken.has(address)) return address
  }
  throw internalError('failed to allocate a serviceIP: range is full')
}

function nodePortsOf(spec: JsonValue): readonly number[] {
  return [numberAt(spec, 'healthCheckNodePort'), ...listAt(spec, 'ports').map((port) => numberAt(port, 'nodePort'))].filter(isNodePort)
}

function isNodePort(port: number): boolean {
  return port >= firstNodePort && port < firstNodePort + nodePorts
}

/**
 * Adds the IP families and their policy, if they are missing (k8s.io/kubernetes/pkg/registry/core/service/storage: initIPFamilyFields). If
 * the cluster IP is an IPv6 address, the function adds no family. The Service is then rejected, because the cluster has only IPv4
 * addresses.
 */
function withFamilies(spec: JsonObject): JsonObject {
  const isOpen = isOpenHeadless(spec)
  const asked = listAt(spec, 'ipFamilies')
  const families = asked.length > 0 ? asked : familyOf(listAt(spec, 'clusterIPs')[0] ?? '') === 'IPv4' ? ['IPv4'] : []
  const { ipFamilyPolicy: policy = isOpen ? 'RequireDualStack' : 'SingleStack' } = spec
  const other = families[0] === 'IPv4' ? 'IPv6' : 'IPv4'
  const all = isOpen && policy !== 'SingleStack' && families.length === 1 ? [...families, other] : families
  return { ...spec, ipFamilies: [...all], ipFamilyPolicy: policy }
}

/**
 * Removes a valid `internalTrafficPolicy` of a Service of the type ExternalName. kube-apiserver stores this field, but removes it from each
 * response (k8s.io/kubernetes/pkg/registry/core/service/storage: defaultOnReadInternalTrafficPolicy).
 */
function withoutInternalPolicy(spec: JsonObject): JsonObject {
  const { internalTrafficPolicy: policy, ...others } = spec
  return policy === 'Cluster' || policy === 'Local' ? others : spec
}

/**
 * Copies the allocated cluster IPs and ports from the old spec if the update omits them. Removes the fields that the new spec does not use
 * and that the update does not change.
 */
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
    ...(spec.type === 'ExternalName' ? ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] : []),
    ...(isExternal(spec) ? [] : ['externalTrafficPolicy']),
    ...(spec.type === 'LoadBalancer' ? [] : ['allocateLoadBalancerNodePorts', 'loadBalancerClass']),
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
