/** Decodes DNS queries, which can be hostile, and encodes DNS responses within the size that the client accepts. */
import type { Answer, OptAnswer, Question, RecordType } from 'dns-packet'
import {
  AUTHORITATIVE_ANSWER,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  TRUNCATED_RESPONSE,
  decode,
  encode,
  encodingLength,
} from 'dns-packet'
import type { AnswerCode, DnsAnswer } from './answer.ts'
import { isEncodable } from './answer.ts'

/** A valid query, with the fields that are necessary for the response. */
export interface DnsQuery {
  readonly id: number
  readonly question: Question
  readonly isRecursionDesired: boolean
  /** The maximum size in bytes of a UDP response to this query. */
  readonly maxUdpSize: number
  /** True when the client uses EDNS. The response to such a client must use EDNS, too (RFC 6891). */
  readonly hasEdns: boolean
}

/** The fields of a decoded message that are missing in the type definitions of `dns-packet`. */
interface Header {
  readonly id: number
  readonly opcode: string
}

/** The size in bytes of the header of a message. */
const headerBytes = 12
/**
 * The maximum size of a query in bytes. A normal query is smaller, because it contains one question and a few options. The limit prevents a
 * large hostile message from causing much work for the server.
 */
export const maxQueryBytes = 4096
/** The maximum size in bytes of a UDP response to a client without EDNS (RFC 1035). */
const plainUdpBytes = 512
/** The maximum size in bytes of a UDP response. A response with EDNS also advertises this size as the size that this server accepts. */
const maxUdpBytes = 4096
/** The maximum size in bytes of a message over TCP. A field of two bytes contains the length of the message. */
const maxTcpBytes = 65_535

/** The maximum size in bytes of one text of a TXT record (RFC 1035, section 3.3). */
const maxTextBytes = 255

const codes: Record<AnswerCode, number> = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 }
/**
 * The upper 8 bits of the 12-bit response code BADVERS (16). A response has this code if the EDNS version of the query is not 0 (RFC 6891).
 */
const badVersion = 1

/**
 * Decodes a message of a client. Returns the query if it is valid. Returns the response if the query must be rejected. Returns undefined if
 * the message is not a query. Never throws.
 */
export function decodeQuery(message: Buffer): DnsQuery | Buffer | undefined {
  if (message.length < headerBytes || (message[2]! & 0x80) !== 0) return undefined
  if (message.length > maxQueryBytes) return refusal(message, 'FORMERR')
  try {
    const {
      id,
      opcode,
      questions = [],
      additionals = [],
      flag_rd: isRecursionDesired,
    } = decode(message) as ReturnType<typeof decode> & Header
    if (opcode !== 'QUERY') return refusal(message, 'NOTIMP')
    const [question] = questions
    const options = additionals.filter((record) => record.type === 'OPT')
    if (question === undefined || questions.length > 1 || options.length > 1 || !isPlain(question, message))
      return refusal(message, 'FORMERR')
    if (question.class !== 'IN' && question.class !== 'ANY') return refusal(message, 'REFUSED')
    const [option] = options
    if ((option?.ednsVersion ?? 0) !== 0) return respondWith({ id, question, isRecursionDesired, code: 'NOERROR', edns: badVersion })
    const maxUdpSize = Math.min(maxUdpBytes, Math.max(plainUdpBytes, option?.udpPayloadSize ?? 0))
    return { id, question, isRecursionDesired, maxUdpSize, hasEdns: option !== undefined }
  } catch {
    return refusal(message, 'FORMERR')
  }
}

/**
 * Returns true when the encoded form of the decoded question equals the bytes of the message. The bytes differ when a label contains a dot
 * or bytes that are not text. If such a query were answered, the response would contain a different question.
 */
function isPlain(question: Question, message: Buffer): boolean {
  if (!isEncodable(question.name)) return false
  const encoded = encode({ questions: [question] }).subarray(headerBytes)
  return encoded.equals(message.subarray(headerBytes, headerBytes + encoded.length))
}

function refusal(message: Buffer, code: AnswerCode): Buffer {
  return encode({ type: 'response', id: message.readUInt16BE(0), flags: codes[code] })
}

/**
 * Returns the response to a query over UDP. If some `records` do not fit, the response is truncated, and the client repeats the query over
 * TCP.
 */
export function encodeUdp(query: DnsQuery, answer: DnsAnswer): Buffer {
  return encodeWithin(query, answer, query.maxUdpSize)
}

/** Returns the response to a query over TCP, without the two bytes of its length. */
export function encodeTcp(query: DnsQuery, answer: DnsAnswer): Buffer {
  return encodeWithin(query, answer, maxTcpBytes)
}

function encodeWithin(query: DnsQuery, answer: DnsAnswer, limit: number): Buffer {
  const edns = query.hasEdns ? 0 : undefined
  const base = { ...query, code: answer.code, edns, isAuthoritative: answer.isAuthoritative ?? false }
  if (![...answer.records, ...(answer.additionals ?? [])].every(isRecordEncodable)) return respondWith({ ...base, code: 'SERVFAIL' })
  let left = limit - respondWith(base).length
  const fitting = (records: readonly Answer[] = []): Answer[] => {
    const fits = records.findIndex((record) => (left -= encodingLength({ answers: [record] }) - headerBytes) < 0)
    return records.slice(0, fits < 0 ? undefined : fits)
  }
  const records = fitting(answer.records)
  const isTruncated = records.length < answer.records.length
  // A response is complete even if authorities and additionals are omitted (RFC 2181, section 9).
  const [authorities, additionals] = isTruncated ? [[], []] : [fitting(answer.authorities), fitting(answer.additionals)]
  return respondWith({ ...base, isTruncated, records, authorities, additionals })
}

interface Response {
  readonly id: number
  readonly question: Question
  readonly isRecursionDesired: boolean
  readonly code: AnswerCode
  /** The upper bits of the response code, which are in the OPT record. Undefined for a response without an OPT record. */
  readonly edns: number | undefined
  readonly isAuthoritative?: boolean
  readonly isTruncated?: boolean
  readonly records?: readonly Answer[]
  readonly authorities?: readonly Answer[]
  readonly additionals?: readonly Answer[]
}

function respondWith(response: Response): Buffer {
  const { id, question, isRecursionDesired, code, edns, records = [], authorities = [], additionals = [] } = response
  const options = edns === undefined ? [] : [optionRecord(edns)]
  const flags =
    codes[code] |
    RECURSION_AVAILABLE |
    (isRecursionDesired ? RECURSION_DESIRED : 0) |
    (response.isAuthoritative === true ? AUTHORITATIVE_ANSWER : 0) |
    (response.isTruncated === true ? TRUNCATED_RESPONSE : 0)
  const sections = {
    questions: [question],
    answers: [...records],
    authorities: [...authorities],
    additionals: [...additionals, ...options],
  }
  return encode({ type: 'response', id, flags, ...sections })
}

function optionRecord(extendedRcode: number): OptAnswer {
  return { type: 'OPT', name: '.', udpPayloadSize: maxUdpBytes, extendedRcode, ednsVersion: 0, flags: 0, flag_do: false, options: [] }
}

/** Returns true when the names and texts of a record can be encoded. `dns-packet` does not check this, and would encode a wrong record. */
function isRecordEncodable(record: Answer): boolean {
  const texts = record.type === 'TXT' ? [record.data].flat() : []
  return isEncodable(record.name) && namesIn(record).every(isEncodable) && texts.every((text) => Buffer.byteLength(text) <= maxTextBytes)
}

/** The types of records whose data is a name. */
const nameTypes: readonly RecordType[] = ['CNAME', 'NS', 'PTR']

function namesIn(record: Answer): readonly string[] {
  if (record.type === 'SRV') return [record.data.target]
  if (record.type === 'MX') return [record.data.exchange]
  if (record.type === 'SOA') return [record.data.mname, record.data.rname]
  return nameTypes.includes(record.type) && 'data' in record && typeof record.data === 'string' ? [record.data] : []
}
