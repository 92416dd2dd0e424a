/** Tests of escapes of lone surrogates in request bodies. Go decodes each of them as U+FFFD. */
import t from 'tap'
import { apiOf } from '../support/conformance/api-request.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { jsonPatch, mergePatch } from '../support/conformance/objects.ts'

const namespace = 'conformance-surrogates'
const api = apiOf(t, (await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })).connection)
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`

t.test('names that differ only in a lone surrogate are the same name', async (t) => {
  t.teardown(() => api('DELETE', `${roles}/${encodeURIComponent('lone\ufffd')}`))
  const create = (escape: string) => api('POST', roles, { body: `{"metadata":{"name":"lone${escape}"}}` })
  t.match(await create('\\ud800'), { status: 201, body: { metadata: { name: 'lone\ufffd' } } })
  for (const escape of ['\\uD801', '\\udfff', '\\ufffd', '\ufffd']) t.equal((await create(escape)).status, 409, escape)
  t.match(await api('GET', `${roles}/${encodeURIComponent('lone\ufffd')}`), { status: 200, body: { metadata: { name: 'lone\ufffd' } } })
})

t.test('values, keys and patches contain U+FFFD, and whole pairs are kept', async (t) => {
  const path = `${configMaps}/values`
  const data =
    '{"high":"\\ud83dx","low":"\\ude00\\ud83d","pair":"\\ud83d\\ude00\\uD83D\\uDE00","two":"\\ud83d\\ud83d\\ude00","text":"\\\\ud800"}'
  t.match(await api('POST', configMaps, { body: `{"metadata":{"name":"values"},"data":${data}}` }), {
    status: 201,
    body: { data: { high: '\ufffdx', low: '\ufffd\ufffd', pair: '😀😀', two: '\ufffd😀', text: '\\ud800' } },
  })
  t.match(await api('PATCH', path, { contentType: mergePatch, body: '{"data":{"high":"\\udc00"}}' }), {
    body: { data: { high: '\ufffd' } },
  })
  const operations = '[{"op":"add","path":"/data/low","value":"\\ud900"}]'
  t.match(await api('PATCH', path, { contentType: jsonPatch, body: operations }), { status: 200, body: { data: { low: '\ufffd' } } })
  const key = await api('PATCH', path, { contentType: mergePatch, body: '{"data":{"a\\ud800":"x"}}' })
  t.match(key, { status: 422, body: { message: /Invalid value: "a\ufffd"/ } })
  const duplicate = `{"metadata":{"name":"keys"},"data":{"a\\ud800":"x","a\\ud801":"x"}}`
  t.match(await api('POST', `${configMaps}?fieldValidation=Strict`, { body: duplicate }), {
    status: 400,
    body: { message: /strict decoding error: duplicate field "data.a\ufffd"/ },
  })
})

t.test('an escape of a surrogate in YAML is refused', async (t) => {
  for (const body of ['metadata: {name: yaml}\ndata: {a: "\\ud800"}', '{"metadata":{"name":"yaml"},"data":{"a":"\\ud800"}}'])
    t.match(await api('POST', configMaps, { contentType: 'application/yaml', body }), {
      status: 400,
      body: { message: /yaml: .*found invalid Unicode character escape code/ },
    })
  const text = 'metadata: {name: yaml}\ndata: {a: \'\\ud800\', b: "\\u00e9\\\\ud800"}'
  t.match(await api('POST', configMaps, { contentType: 'application/yaml', body: text }), {
    status: 201,
    body: { data: { a: '\\ud800', b: 'é\\ud800' } },
  })
})
