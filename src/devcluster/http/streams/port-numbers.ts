/** Parses the numbers of the ports that a client wants to forward. */
import { quote } from '../../../api/field-error.ts'
import { badRequest, notANumber } from '../../apimachinery/status-error.ts'

/**
 * Maximum number of ports of one WebSocket. A port has two channels, and the number of a channel is one byte. A kubelet accepts more ports,
 * but then several channels have the same number (k8s.io/streaming/pkg/httpstream/wsstream: Conn.Open).
 */
const maxPorts = 128

/** Returns the number of a port; undefined for an invalid text. */
export function portNumber(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : undefined
}

/**
 * Returns the ports of the query parameter `ports` (k8s.io/apimachinery/pkg/apis/meta/v1: Convert_Slice_string_To_Slice_int32).
 *
 * @throws {StatusError} 400 when the parameter is missing, or a port is invalid
 */
export function requestedPorts(query: URLSearchParams): number[] {
  const texts = query.getAll('ports').flatMap((value) => value.split(','))
  // k8s.io/cri-streaming/pkg/streaming/portforward: NewV4Options.
  if (texts.length === 0) throw badRequest('query parameter "ports" is required')
  if (texts.length > maxPorts) throw badRequest(`query parameter "ports": ${texts.length} ports; the maximum is ${maxPorts}`)
  return texts.map((text) => {
    const port = portNumber(text)
    if (port !== undefined) return port
    if (/^0+$/.test(text)) throw badRequest(`port ${quote(text)} must be > 0`)
    const problem = /^\d+$/.test(text) ? `strconv.ParseUint: parsing ${quote(text)}: value out of range` : notANumber('ParseUint', text)
    throw badRequest(`cannot convert to []int32: ${problem}`)
  })
}
