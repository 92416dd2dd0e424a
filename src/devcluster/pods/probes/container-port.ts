/** `containerPort`: determines the port that a handler declares by number or name. */
import { quote } from '../../../api/field-error.ts'
import type { ContainerSpec } from '../../controllers/kubelet/container-runtime.ts'
import { ProbeError } from './probe-outcome.ts'

/**
 * Returns the number of a port (k8s.io/kubernetes/pkg/probe: ResolveContainerPort).
 *
 * @throws {ProbeError} when the container has no port with this name, or when the number is not a valid port number.
 */
export function containerPort(port: number | string, { ports = [] }: ContainerSpec): number {
  const number = typeof port === 'number' ? port : (ports.find(({ name }) => name === port)?.containerPort ?? parsed(port))
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number
  throw new ProbeError(`invalid port number: ${number}`)
}

/** Parses a port number that is declared as a string. The error message is that of Go's `strconv.Atoi`. */
function parsed(port: string): number {
  if (/^[+-]?\d{1,10}$/.test(port)) return Number(port)
  throw new ProbeError(`strconv.Atoi: parsing ${quote(port)}: invalid syntax`)
}
