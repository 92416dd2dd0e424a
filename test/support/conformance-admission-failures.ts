/** Ways in which the call of a webhook can fail, and what the API server says about each. */
import type { Answer } from './conformance-admission.ts'
import { review } from './conformance-admission.ts'
import { base64, raw } from './conformance-reviews.ts'

export const json = { 'content-type': 'application/json' }
const typeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
export const patch = (text: string, patchType = 'JSONPatch'): Answer => review({ patch: base64(text), patchType })

/** What the failed call is called, after `failed to call webhook: `. */
export const callFailures: Readonly<Record<string, { answer: Answer; says: string }>> = {
  'a 500': { answer: raw(500, 'boom\n'), says: 'an error on the server ("boom") has prevented the request from succeeding' },
  'a 500 with JSON': {
    answer: raw(500, '{"a":1}', json),
    says: 'an error on the server ("unknown") has prevented the request from succeeding',
  },
  'a 500 without a word': { answer: raw(500, ''), says: 'an error on the server ("") has prevented the request from succeeding' },
  'a 500 with a Status': {
    answer: raw(500, JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'own words', code: 500 }), json),
    says: 'own words',
  },
  'a 400': { answer: raw(400, 'x'), says: 'the server rejected our request for an unknown reason' },
  'a 401': { answer: raw(401, 'x'), says: 'the server has asked for the client to provide credentials' },
  'a 403': { answer: raw(403, 'own words'), says: 'own words' },
  'a 403 with JSON': { answer: raw(403, '"own words"', json), says: 'unknown' },
  'a 404': { answer: raw(404, 'x'), says: 'the server could not find the requested resource' },
  'a 405': { answer: raw(405, 'x'), says: 'the server does not allow this method on the requested resource' },
  'a 409': { answer: raw(409, 'x'), says: 'the server reported a conflict' },
  'a 413': { answer: raw(413, 'x'), says: 'the server responded with the status code 413 but did not return more information' },
  'a 415': { answer: raw(415, 'own words'), says: 'own words' },
  'a 418': { answer: raw(418, 'x'), says: 'the server responded with the status code 418 but did not return more information' },
  'a 422': { answer: raw(422, 'x'), says: 'the server rejected our request due to an error in our request' },
  'a 429': { answer: raw(429, 'x'), says: 'the server has received too many requests and has asked us to try again later' },
  'a 429 that asks to wait for too long': {
    answer: raw(429, 'x', { 'retry-after': '5' }),
    says: 'Post "URL/failing?timeout=1s": context deadline exceeded',
  },
  'a 503': { answer: raw(503, 'x'), says: 'the server is currently unable to handle the request' },
  'a 504': {
    answer: raw(504, 'x'),
    says: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
  'a redirect to nowhere': {
    answer: raw(307, ''),
    says: 'the server responded with the status code 307 but did not return more information',
  },
  'redirects without an end': {
    answer: raw(307, '', { location: '/failing' }),
    says: 'Post "/failing": stopped after 10 redirects',
  },
  'a 204': { answer: raw(204, '', json), says: '0-length response with status code: 204 and content type: application/json' },
  'no body': { answer: raw(200, '', json), says: '0-length response with status code: 200 and content type: application/json' },
  text: {
    answer: raw(200, 'garbage', json),
    says: `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${typeMeta}`,
  },
  'a web page': {
    answer: raw(200, '<html>', { 'content-type': 'text/html' }),
    says: `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${typeMeta}`,
  },
  'half an object': {
    answer: raw(200, '{"kind":', json),
    says: "couldn't get version/kind; json parse error: unexpected end of JSON input",
  },
  'a list': {
    answer: raw(200, '[]', json),
    says: `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${typeMeta}`,
  },
  'a Status': {
    answer: raw(200, JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'own words' }), json),
    says: 'converting (v1.Status) to (v1.AdmissionReview): unknown conversion',
  },
  'another version': {
    answer: review({}, { apiVersion: 'admission.k8s.io/v1beta1' }),
    says: 'converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
  },
  'a response that is none': {
    answer: review(null, { response: 'x' }),
    says: 'json: cannot unmarshal string into Go struct field AdmissionReview.response of type v1.AdmissionResponse',
  },
  'a text for allowed': {
    answer: review({ allowed: 'yes' }),
    says: 'json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
  },
  'a text for the warnings': {
    answer: review({ warnings: 'yes' }),
    says: 'json: cannot unmarshal string into Go struct field AdmissionResponse.response.warnings of type []string',
  },
  'a text for the code': {
    answer: review({ allowed: false, status: { code: '403' } }),
    says: 'json: cannot unmarshal string into Go struct field Status.response.status.code of type int32',
  },
  'a patch that is not base64': { answer: review({ patch: '!!!', patchType: 'JSONPatch' }), says: 'illegal base64 data at input byte 0' },
  'no answer': { answer: () => undefined, says: 'Post "URL/failing?timeout=1s": context deadline exceeded' },
  'an answer that stops': {
    answer: (_call, response) => void response.writeHead(200, json).write('{'),
    says: 'unexpected error when reading response body. Please retry. Original error: context deadline exceeded',
  },
  'a closed connection': { answer: (_call, response) => void response.destroy(), says: 'Post "URL/failing?timeout=1s": EOF' },
  'an answer cut short': {
    answer: (_call, response) =>
      void response.writeHead(200, { ...json, 'content-length': '100' }).write('{', () => setImmediate(() => response.destroy())),
    says: 'unexpected error when reading response body. Please retry. Original error: unexpected EOF',
  },
}

/** What the answer is called, after `received invalid webhook response: `. */
export const invalidResponses: Readonly<Record<string, { answer: Answer; says: string | RegExp }>> = {
  null: { answer: raw(200, 'null', json), says: 'webhook response was absent' },
  'an empty object': { answer: raw(200, '{}', json), says: 'webhook response was absent' },
  'no response': { answer: review(null), says: 'webhook response was absent' },
  'a null response': { answer: review(null, { response: null }), says: 'webhook response was absent' },
  'another uid': { answer: review({ uid: 'other' }), says: /expected response\.uid="[-0-9a-f]{36}", got "other"$/ },
  'no uid': { answer: review({ uid: '' }), says: /expected response\.uid="[-0-9a-f]{36}", got ""$/ },
  'no kind': {
    answer: review({}, { kind: '' }),
    says: 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=',
  },
  'no apiVersion': {
    answer: review({}, { apiVersion: '' }),
    says: 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=AdmissionReview',
  },
  'a patch without its type': {
    answer: review({ patch: base64('[]') }),
    says: 'webhook returned response.patch but not response.patchType',
  },
  'a type without a patch': {
    answer: review({ patchType: 'JSONPatch' }),
    says: 'webhook returned response.patchType but not response.patch',
  },
  'an empty type': { answer: patch('[]', ''), says: 'webhook returned invalid response.patchType of ""' },
}

/** The rest, in whole. */
export const otherFailures: Readonly<Record<string, { answer: Answer; says: string }>> = {
  'a patch of an unknown type': {
    answer: patch('[{"op":"add","path":"/data","value":{}}]', 'MergePatch'),
    says: 'unsupported patch type "MergePatch"',
  },
  'a patch that is an object': {
    answer: patch('{"data":{}}'),
    says: 'received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
  },
  'a patch that is no JSON': {
    answer: patch('garbage'),
    says: "received undecodable patch in webhook response: invalid character 'g' looking for beginning of value",
  },
  'a patch of texts': {
    answer: patch('["x"]'),
    says: 'received undecodable patch in webhook response: json: cannot unmarshal string into Go value of type jsonpatch.Operation',
  },
}
