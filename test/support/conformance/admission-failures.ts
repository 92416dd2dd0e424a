/** Responses of a webhook that make the call fail, each with the error message of the API server. */
import type { Answer } from './admission.ts'
import { review } from './admission.ts'
import { base64, raw } from './reviews.ts'

export const json = { 'content-type': 'application/json' }
const typeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
export const patch = (text: string, patchType = 'JSONPatch'): Answer => review({ patch: base64(text), patchType })

/** Failures whose message begins with `failed to call webhook: `. `message` is the rest. */
export const callFailures: Readonly<Record<string, { answer: Answer; message: string }>> = {
  'a 500': { answer: raw(500, 'boom\n'), message: 'an error on the server ("boom") has prevented the request from succeeding' },
  'a 500 with JSON': {
    answer: raw(500, '{"a":1}', json),
    message: 'an error on the server ("unknown") has prevented the request from succeeding',
  },
  'a 500 without a word': { answer: raw(500, ''), message: 'an error on the server ("") has prevented the request from succeeding' },
  'a 500 with a Status': {
    answer: raw(500, JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'own words', code: 500 }), json),
    message: 'own words',
  },
  'a 400': { answer: raw(400, 'x'), message: 'the server rejected our request for an unknown reason' },
  'a 401': { answer: raw(401, 'x'), message: 'the server has asked for the client to provide credentials' },
  'a 403': { answer: raw(403, 'own words'), message: 'own words' },
  'a 403 with JSON': { answer: raw(403, '"own words"', json), message: 'unknown' },
  'a 404': { answer: raw(404, 'x'), message: 'the server could not find the requested resource' },
  'a 405': { answer: raw(405, 'x'), message: 'the server does not allow this method on the requested resource' },
  'a 409': { answer: raw(409, 'x'), message: 'the server reported a conflict' },
  'a 413': { answer: raw(413, 'x'), message: 'the server responded with the status code 413 but did not return more information' },
  'a 415': { answer: raw(415, 'own words'), message: 'own words' },
  'a 418': { answer: raw(418, 'x'), message: 'the server responded with the status code 418 but did not return more information' },
  'a 422': { answer: raw(422, 'x'), message: 'the server rejected our request due to an error in our request' },
  'a 429': { answer: raw(429, 'x'), message: 'the server has received too many requests and has asked us to try again later' },
  'a 429 that asks to wait for too long': {
    answer: raw(429, 'x', { 'retry-after': '5' }),
    message: 'Post "URL/failing?timeout=1s": context deadline exceeded',
  },
  'a 503': { answer: raw(503, 'x'), message: 'the server is currently unable to handle the request' },
  'a 504': {
    answer: raw(504, 'x'),
    message: 'the server was unable to return a response in the time allotted, but may still be processing the request',
  },
  'a redirect to nowhere': {
    answer: raw(307, ''),
    message: 'the server responded with the status code 307 but did not return more information',
  },
  'redirects without an end': {
    answer: raw(307, '', { location: '/failing' }),
    message: 'Post "/failing": stopped after 10 redirects',
  },
  'a 204': { answer: raw(204, '', json), message: '0-length response with status code: 204 and content type: application/json' },
  'no body': { answer: raw(200, '', json), message: '0-length response with status code: 200 and content type: application/json' },
  text: {
    answer: raw(200, 'garbage', json),
    message: `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${typeMeta}`,
  },
  'a web page': {
    answer: raw(200, '<html>', { 'content-type': 'text/html' }),
    message: `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${typeMeta}`,
  },
  'half an object': {
    answer: raw(200, '{"kind":', json),
    message: "couldn't get version/kind; json parse error: unexpected end of JSON input",
  },
  'a list': {
    answer: raw(200, '[]', json),
    message: `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${typeMeta}`,
  },
  'a Status': {
    answer: raw(200, JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'own words' }), json),
    message: 'converting (v1.Status) to (v1.AdmissionReview): unknown conversion',
  },
  'another version': {
    answer: review({}, { apiVersion: 'admission.k8s.io/v1beta1' }),
    message: 'converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
  },
  'a response that is none': {
    answer: review(null, { response: 'x' }),
    message: 'json: cannot unmarshal string into Go struct field AdmissionReview.response of type v1.AdmissionResponse',
  },
  'a text for allowed': {
    answer: review({ allowed: 'yes' }),
    message: 'json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
  },
  'a text for the warnings': {
    answer: review({ warnings: 'yes' }),
    message: 'json: cannot unmarshal string into Go struct field AdmissionResponse.response.warnings of type []string',
  },
  'a text for the code': {
    answer: review({ allowed: false, status: { code: '403' } }),
    message: 'json: cannot unmarshal string into Go struct field Status.response.status.code of type int32',
  },
  'a patch that is not base64': {
    answer: review({ patch: '!!!', patchType: 'JSONPatch' }),
    message: 'illegal base64 data at input byte 0',
  },
  'no answer': { answer: () => undefined, message: 'Post "URL/failing?timeout=1s": context deadline exceeded' },
  'an answer that stops': {
    answer: (_call, response) => void response.writeHead(200, json).write('{'),
    message: 'unexpected error when reading response body. Please retry. Original error: context deadline exceeded',
  },
  'a closed connection': { answer: (_call, response) => void response.destroy(), message: 'Post "URL/failing?timeout=1s": EOF' },
  'an answer cut short': {
    answer: (_call, response) =>
      void response.writeHead(200, { ...json, 'content-length': '100' }).write('{', () => setImmediate(() => response.destroy())),
    message: 'unexpected error when reading response body. Please retry. Original error: unexpected EOF',
  },
}

/** Failures whose message begins with `received invalid webhook response: `. `message` is the rest. */
export const invalidResponses: Readonly<Record<string, { answer: Answer; message: string | RegExp }>> = {
  null: { answer: raw(200, 'null', json), message: 'webhook response was absent' },
  'an empty object': { answer: raw(200, '{}', json), message: 'webhook response was absent' },
  'no response': { answer: review(null), message: 'webhook response was absent' },
  'a null response': { answer: review(null, { response: null }), message: 'webhook response was absent' },
  'another uid': { answer: review({ uid: 'other' }), message: /expected response\.uid="[-0-9a-f]{36}", got "other"$/ },
  'no uid': { answer: review({ uid: '' }), message: /expected response\.uid="[-0-9a-f]{36}", got ""$/ },
  'no kind': {
    answer: review({}, { kind: '' }),
    message: 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=',
  },
  'no apiVersion': {
    answer: review({}, { apiVersion: '' }),
    message: 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=AdmissionReview',
  },
  'a patch without its type': {
    answer: review({ patch: base64('[]') }),
    message: 'webhook returned response.patch but not response.patchType',
  },
  'a type without a patch': {
    answer: review({ patchType: 'JSONPatch' }),
    message: 'webhook returned response.patchType but not response.patch',
  },
  'an empty type': { answer: patch('[]', ''), message: 'webhook returned invalid response.patchType of ""' },
}

/**
 * Failures whose message begins neither with `failed to call webhook: ` nor with `received invalid webhook response: `. `message` is the
 * whole message.
 */
export const otherFailures: Readonly<Record<string, { answer: Answer; message: string }>> = {
  'a patch of an unknown type': {
    answer: patch('[{"op":"add","path":"/data","value":{}}]', 'MergePatch'),
    message: 'unsupported patch type "MergePatch"',
  },
  'a patch that is an object': {
    answer: patch('{"data":{}}'),
    message: 'received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
  },
  'a patch that is no JSON': {
    answer: patch('garbage'),
    message: "received undecodable patch in webhook response: invalid character 'g' looking for beginning of value",
  },
  'a patch of texts': {
    answer: patch('["x"]'),
    message: 'received undecodable patch in webhook response: json: cannot unmarshal string into Go value of type jsonpatch.Operation',
  },
}
