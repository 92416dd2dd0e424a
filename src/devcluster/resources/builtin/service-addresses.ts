/**
 * Validation of the addresses and IP families of Services. The rules are those of a cluster with only IPv4 addresses
 * (k8s.io/kubernetes/pkg/registry/core/service).
 */
import { isIP } from 'node:net'
import type { FieldError } from '../../../api/field-error.ts'
import { duplicate, invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject, JsonValue } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { listAt, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { objects } from './field-checks.ts'
import { addressBytes, validateAddress } from './ip-addresses.ts'

/** The range of cluster IPs. The first and the last address of this range are not used. */
export const clusterRange = { prefix: [10, 96], text: '10.96.0.0/16' }

/** The first node port, and the number of node ports. */
export const firstNodePort = 30_000
export const nodePorts = 2_768

/** Returns the IP family of an address: `IPv4` or `IPv6`. */
export function familyOf(address: JsonValue): string {
  return isIP(String(address)) === 6 ? 'IPv6' : 'IPv4'
}

/** Returns true for a headless Service without a selector. The endpoints of such a Service can have addresses of any family. */
export function isOpenHeadless(spec: JsonObject): boolean {
  return spec.clusterIP === 'None' && sizeAt(spec, 'selector') === 0
}

export function isHeadless(spec: JsonObject): boolean {
  const addresses = listAt(spec, 'clusterIPs')
  return addresses.length === 1 && addresses[0] === 'None'
}

/**
 * Returns the errors of the allocation of addresses and ports. kube-apiserver allocates addresses and ports before it validates the
 * Service, and reports only the errors of the first step that fails (initIPFamilyFields, txnAllocClusterIPs, txnAllocNodePorts).
 */
export function allocationErrors(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const isAddressed = spec.type !== 'ExternalName'
  const steps = [
    ...(isAddressed ? [validateAddresses, validatePolicy, validateFamilies, validateRange] : []),
    ...(spec.type === 'NodePort' || spec.type === 'LoadBalancer' ? [validateNodePorts] : []),
  ]
  for (const step of steps) {
    const errors = step(spec, old)
    if (errors.length > 0) return errors
  }
  return []
}

const families = ['IPv4', 'IPv6']
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']

/** Validates the fields `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` (ValidateServiceClusterIPsRelatedFields). */
function validateAddresses(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const [address, addresses, given] = [textAt(spec, 'clusterIP'), listAt(spec, 'clusterIPs'), listAt(spec, 'ipFamilies')]
  const refuse = (detail: string): FieldError => invalid('spec.clusterIPs', addresses, detail)
  const errors: FieldError[] = []
  if (address === '' && addresses.length > 0) errors.push(refuse('must be empty when `clusterIP` is not specified'))
  else if (address !== '' && addresses.length === 0) errors.push(required('spec.clusterIPs'))
  else if (address !== '' && addresses[0] !== address) errors.push(refuse('first value must match `clusterIP`'))
  for (const [index, family] of given.entries()) {
    const path = `spec.ipFamilies[${index}]`
    if (!families.includes(String(family))) errors.push(notSupported(path, family, families))
    if (given.indexOf(family) < index) errors.push(duplicate(path, family))
  }
  const { ipFamilyPolicy: policy } = spec
  if (typeof policy === 'string' && !familyPolicies.includes(policy))
    errors.push(notSupported('spec.ipFamilyPolicy', policy, familyPolicies))
  const malformed = addresses.flatMap((one, index) => {
    if (index > 0 || one !== 'None') return validateAddress(String(one), `spec.clusterIPs[${index}]`, listAt(old, 'clusterIPs'))
    return addresses.length > 1 ? [refuse("'None' must be the first and only value")] : []
  })
  errors.push(...malformed)
  if (addresses.length > 2) errors.push(refuse('may only hold up to 2 values'))
  if (malformed.length > 0) return errors
  if (addresses.length > 1 && new Set(addresses.map(familyOf)).size < 2)
    errors.push(refuse('may specify no more than one IP for each IP family'))
  if (isHeadless(spec)) return errors
  for (const [index, one] of addresses.entries()) {
    const family = given[index]
    if (families.includes(String(family)) && family !== familyOf(one))
      errors.push(invalid(`spec.clusterIPs[${index}]`, one, `expected an ${String(family)} value as indicated by \`ipFamilies[${index}]\``))
  }
  return errors
}

/** Validates that `ipFamilyPolicy` allows the number of addresses and families, and that each IPv6 address has an entry in `ipFamilies`. */
function validatePolicy(spec: JsonObject): FieldError[] {
  const { ipFamilyPolicy: policy } = spec
  const [addresses, given] = [listAt(spec, 'clusterIPs'), listAt(spec, 'ipFamilies')]
  const errors: FieldError[] = []
  for (const [list, noun] of [
    [addresses, 'cluster IPs'],
    [given, 'IP families'],
  ] as const)
    if (policy === 'SingleStack' && list.length === 2)
      errors.push(
        invalid('spec.ipFamilyPolicy', policy, `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${noun} are specified`),
      )
  for (const [index, address] of addresses.entries())
    if (index >= given.length && familyOf(address) === 'IPv6')
      errors.push(invalid(`spec.clusterIPs[${index}]`, addresses, 'IPv6 is not configured on this cluster'))
  return errors
}

/** Validates that the cluster supports the IP families that the Service requires. */
function validateFamilies(spec: JsonObject): FieldError[] {
  if (isOpenHeadless(spec)) return []
  return [
    ...(spec.ipFamilyPolicy === 'RequireDualStack'
      ? [invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...listAt(spec, 'ipFamilies').flatMap((family, index) =>
      family === 'IPv6' ? [invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')] : [],
    ),
  ]
}

/**
 * Validates that the cluster IP of a Service is in the range of cluster IPs. An update is validated only if the old Service has the type
 * ExternalName.
 */
function validateRange(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const address = textAt(spec, 'clusterIP')
  if (address === 'None' || (old !== undefined && old.type !== 'ExternalName')) return []
  const [first, second, ...host] = addressBytes(address) ?? []
  const isInside = first === clusterRange.prefix[0] && second === clusterRange.prefix[1]
  const isReserved = host.every((byte) => byte === 0) || host.every((byte) => byte === 255)
  if (isInside && !isReserved) return []
  const why = `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${clusterRange.text}`
  return [invalid('spec.clusterIPs', listAt(spec, 'clusterIPs'), `failed to allocate IP ${address}: ${why}`)]
}

/** Validates the node ports of a Service. Only the first error is reported. */
function validateNodePorts(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const known = listAt(old, 'ports').map((port) => numberAt(port, 'nodePort'))
  const taken = new Set<string>()
  for (const [port, index] of objects(listAt(spec, 'ports'))) {
    const number = numberAt(port, 'nodePort')
    const path = `spec.ports[${index}].nodePort`
    const place = `${textAt(port, 'protocol')}/${number}`
    if (number === 0) continue
    if (taken.has(place)) return [invalid(path, number, 'provided port is already allocated')]
    taken.add(place)
    const last = firstNodePort + nodePorts - 1
    if (!known.includes(number) && (number < firstNodePort || number > last)) {
      const range = `The range of valid ports is ${firstNodePort}-${last}`
      return [invalid(path, number, `provided port is not in the valid range. ${range}`)]
    }
  }
  return []
}

/** Validates that an update does not change the addresses (validateUpgradeDowngradeClusterIPs). */
export function validateAddressUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName' || (isHeadless(spec) && isHeadless(old))) return []
  const [now, before] = [listAt(spec, 'clusterIPs'), listAt(old, 'clusterIPs')]
  const count = now.length === before.length ? before.length : Math.min(now.length, before.length, 1)
  return Array.from({ length: count }, (_, index) => index).flatMap((index) =>
    now[index] === before[index] ? [] : [invalid(`spec.clusterIPs[${index}]`, now, 'may not change once set')],
  )
}

/**
 * Returns an error for each item of `ipFamilies` that an update changes (validateUpgradeDowngradeIPFamilies). Returns no errors in these
 * cases:
 *
 * - The update changes the number of items.
 * - The Service is headless before or after the update.
 * - The Service has the type ExternalName before or after the update.
 */
export function validateFamilyUpdate(spec: JsonObject, old: JsonObject): FieldError[] {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName' || isHeadless(spec) || isHeadless(old)) return []
  const [now, before] = [listAt(spec, 'ipFamilies'), listAt(old, 'ipFamilies')]
  if (now.length !== before.length) return []
  return now.flatMap((family, index) => (family === before[index] ? [] : [invalid('spec.ipFamilies[0]', now, 'may not change once set')]))
}

/** Returns the spec of a Service; an empty object if the Service or the spec is missing. */
export function serviceSpec(service: JsonObject | undefined): JsonObject {
  return service !== undefined && isObject(service.spec) ? service.spec : {}
}
