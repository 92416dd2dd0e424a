/** Validation of Services (k8s.io/kubernetes/pkg/apis/core/validation: validateService). */
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, forbidden, invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { jsonEqual } from '../../../api/json.ts'
import { longName, qualifiedName, shortName } from '../../../api/name-syntax.ts'
import { validateLabels } from '../../../api/object-meta.ts'
import { at, listAt, numberAt, textAt } from '../../apimachinery/unstructured.ts'
import { objects, validateEnum, validateOptionalEnum, validatePort, validatePortOrName } from './field-checks.ts'
import { validateEndpointAddress, validateAddress, validateRange } from './ip-addresses.ts'
import { allocationErrors, isHeadless, serviceSpec, validateAddressUpdate, validateFamilyUpdate } from './service-addresses.ts'
import { hasHealthCheck, isExternal } from './service-types.ts'

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']

export function validateService(service: JsonObject, oldService: JsonObject | undefined): FieldError[] {
  const [spec, old] = [serviceSpec(service), oldService === undefined ? undefined : serviceSpec(oldService)]
  const allocation = service.spec === undefined ? [] : allocationErrors(spec, old)
  if (allocation.length > 0) return allocation
  return [
    ...(old === undefined ? [] : validateUpdate(spec, old)),
    ...validateTopology(at(service, 'metadata', 'annotations')),
    ...(listAt(spec, 'ports').length === 0 && spec.type !== 'ExternalName' && !isHeadless(spec) ? [required('spec.ports')] : []),
    ...validateType(spec),
    ...validatePorts(spec),
    ...validateLabels(spec.selector, 'spec.selector'),
    ...(service.spec === undefined ? [] : validateEnum(spec, 'sessionAffinity', 'spec', ['ClientIP', 'None'])),
    ...validateAffinity(spec),
    ...listAt(spec, 'externalIPs').flatMap((address, index) => {
      const path = `spec.externalIPs[${index}]`
      const errors = validateAddress(String(address), path, listAt(old, 'externalIPs'))
      return errors.length > 0 ? errors : validateEndpointAddress(String(address), path)
    }),
    ...(service.spec === undefined ? [] : validateEnum(spec, 'type', 'spec', types)),
    ...validateNumbers(spec),
    ...validateSourceRanges(service, oldService),
    ...validateBalancing(spec),
    ...validateTrafficPolicies(spec),
  ]
}

/** Validates that an update does not change immutable fields (ValidateServiceUpdate). */
function validateUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  const areBalanced = spec.type === 'LoadBalancer' && old.type === 'LoadBalancer'
  const { loadBalancerClass: name } = spec
  return [
    ...validateAddressUpdate(spec, old),
    ...validateFamilyUpdate(spec, old),
    ...(areBalanced && !jsonEqual(name ?? null, old.loadBalancerClass ?? null)
      ? [invalid('spec.loadBalancerClass', name ?? null, 'may not change once set')]
      : []),
    ...(hasHealthCheck(spec) && hasHealthCheck(old) && numberAt(spec, 'healthCheckNodePort') !== numberAt(old, 'healthCheckNodePort')
      ? [forbidden('spec.healthCheckNodePort', 'field is immutable')]
      : []),
  ]
}

const [topologyMode, topologyHints] = ['service.kubernetes.io/topology-mode', 'service.kubernetes.io/topology-aware-hints']

function validateTopology(annotations: JsonObject[string]): FieldError[] {
  const [mode, hints] = [at(annotations, topologyMode), at(annotations, topologyHints)]
  if (mode === undefined || hints === undefined || mode === hints) return []
  return [invalid(`metadata.annotations[${topologyMode}]`, mode, `must match annotations[${topologyHints}] when both are specified`)]
}

function validateType(spec: JsonObject): FieldError[] {
  if ((spec.type === 'LoadBalancer' || spec.type === 'NodePort') && isHeadless(spec))
    return [invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec.type} services`)]
  if (spec.type !== 'ExternalName') return []
  const name = textAt(spec, 'externalName').replace(/\.$/, '')
  return [
    ...(listAt(spec, 'clusterIPs').length > 0 || textAt(spec, 'clusterIP') !== '' ? [refuseForName('clusterIPs')] : []),
    ...(listAt(spec, 'ipFamilies').length > 0 ? [refuseForName('ipFamilies')] : []),
    ...(typeof spec.ipFamilyPolicy === 'string' ? [refuseForName('ipFamilyPolicy')] : []),
    ...(name === '' ? [required('spec.externalName')] : longName(name).map((detail) => invalid('spec.externalName', name, detail))),
  ]
}

function refuseForName(field: string): FieldError {
  return forbidden(`spec.${field}`, 'may not be set for ExternalName services')
}

/** Validates the ports of a Service (k8s.io/kubernetes/pkg/apis/core/validation: validateServicePort). */
function validatePorts(spec: JsonObject): FieldError[] {
  const list = listAt(spec, 'ports')
  const names = new Set<string>()
  return objects(list).flatMap(([port, index]) => {
    const here = `spec.ports[${index}]`
    const [name, protocol] = [textAt(port, 'name'), port.appProtocol]
    const errors: FieldError[] = []
    if (name === '' && list.length > 1) errors.push(required(`${here}.name`))
    if (name !== '') errors.push(...shortName(name).map((detail) => invalid(`${here}.name`, name, detail)))
    if (name !== '' && names.has(name)) errors.push(duplicate(`${here}.name`, name))
    names.add(name)
    errors.push(...validatePort(port.port ?? 0, `${here}.port`), ...validateEnum(port, 'protocol', here, ['SCTP', 'TCP', 'UDP']))
    errors.push(...validatePortOrName(port.targetPort, `${here}.targetPort`))
    if (typeof protocol === 'string')
      errors.push(...qualifiedName(protocol).map((detail) => invalid(`${here}.appProtocol`, protocol, detail)))
    return errors
  })
}

/**
 * Returns an error for:
 *
 * - each port that has the same protocol and the same port number as an earlier port
 * - each port that has the same protocol and the same node port as an earlier port
 * - each port that has a node port, if the Service has the type ClusterIP
 */
function validateNumbers(spec: JsonObject): FieldError[] {
  const ports = objects(listAt(spec, 'ports'))
  const repeated = (field: string, refuse: (port: JsonObject, path: string) => FieldError): FieldError[] => {
    const taken = new Set<string>()
    return ports.flatMap(([port, index]) => {
      const place = `${textAt(port, 'protocol')}/${numberAt(port, field)}`
      const isTaken = taken.has(place)
      taken.add(place)
      return isTaken && (field === 'port' || numberAt(port, field) !== 0) ? [refuse(port, `spec.ports[${index}]`)] : []
    })
  }
  const unusable = ports.filter(([port]) => spec.type === 'ClusterIP' && numberAt(port, 'nodePort') !== 0)
  return [
    ...unusable.map(([, index]) => forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")),
    ...repeated('nodePort', (port, path) => duplicate(`${path}.nodePort`, port.nodePort)),
    ...repeated('port', samePort),
  ]
}

/** Returns the error about a duplicate port. The message contains all fields of kube-apiserver's internal type ServicePort. */
function samePort(port: JsonObject, path: string): FieldError {
  const printed = { Name: '', Protocol: port.protocol, AppProtocol: null, Port: port.port, TargetPort: 0, NodePort: 0 }
  return { path, reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(printed)}` }
}

const maxAffinitySeconds = 86_400

function validateAffinity(spec: JsonObject): FieldError[] {
  if (spec.sessionAffinity !== 'ClientIP') return []
  const seconds = numberAt(spec, 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds')
  const path = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds'
  return seconds > 0 && seconds <= maxAffinitySeconds
    ? []
    : [invalid(path, seconds, `must be greater than 0 and less than ${maxAffinitySeconds}`)]
}

const rangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const onlyBalanced = "may only be used when `type` is 'LoadBalancer'"

/** Validates the source ranges of a LoadBalancer. An annotation can contain these ranges, too. */
function validateSourceRanges(service: JsonObject, oldService: JsonObject | undefined): FieldError[] {
  const [spec, old] = [serviceSpec(service), serviceSpec(oldService)]
  const trimmed = (ranges: readonly unknown[]): string[] => ranges.map((range) => String(range).trim())
  const ranges = trimmed(listAt(spec, 'loadBalancerSourceRanges'))
  const isBalanced = spec.type === 'LoadBalancer'
  if (ranges.length > 0) {
    // In kube-apiserver's error, the name of this field begins with a capital letter.
    const path = 'spec.LoadBalancerSourceRanges'
    const known = trimmed(listAt(old, 'loadBalancerSourceRanges'))
    return [
      ...(isBalanced ? [] : [forbidden(path, onlyBalanced)]),
      ...ranges.flatMap((range, index) => validateRange(range, `${path}[${index}]`, known)),
    ]
  }
  const annotation = at(service, 'metadata', 'annotations', rangesAnnotation)
  if (typeof annotation !== 'string') return []
  const path = `metadata.annotations[${rangesAnnotation}]`
  const isNew = annotation !== at(oldService, 'metadata', 'annotations', rangesAnnotation)
  return [
    ...(isBalanced ? [] : [forbidden(path, onlyBalanced)]),
    ...(isNew && annotation.trim() !== '' ? trimmed(annotation.split(',')).flatMap((range) => validateRange(range, path)) : []),
  ]
}

/** Validates the fields that only a LoadBalancer may have. */
function validateBalancing(spec: JsonObject): FieldError[] {
  const { loadBalancerClass: name } = spec
  if (spec.type === 'LoadBalancer')
    return typeof name === 'string' ? qualifiedName(name).map((detail) => invalid('spec.loadBalancerClass', name, detail)) : []
  return ['allocateLoadBalancerNodePorts', 'loadBalancerClass']
    .filter((field) => at(spec, field) !== undefined)
    .map((field) => forbidden(`spec.${field}`, onlyBalanced))
}

const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode']

function validateTrafficPolicies(spec: JsonObject): FieldError[] {
  const policy = textAt(spec, 'externalTrafficPolicy')
  const { healthCheckNodePort: port, trafficDistribution: distribution } = spec
  const checkedOnly = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
  const errors: FieldError[] = []
  if (policy !== '' && !isExternal(spec))
    errors.push(invalid('spec.externalTrafficPolicy', policy, 'may only be set for externally-accessible services'))
  else if (policy !== '') errors.push(...validateOptionalEnum(spec, 'externalTrafficPolicy', 'spec', ['Cluster', 'Local']))
  if (typeof port === 'number' && port !== 0)
    errors.push(
      ...(hasHealthCheck(spec) ? validatePort(port, 'spec.healthCheckNodePort') : [invalid('spec.healthCheckNodePort', port, checkedOnly)]),
    )
  errors.push(...validateOptionalEnum(spec, 'internalTrafficPolicy', 'spec', ['Cluster', 'Local']))
  if (typeof distribution === 'string' && !distributions.includes(distribution))
    errors.push(notSupported('spec.trafficDistribution', distribution, distributions))
  return errors
}
