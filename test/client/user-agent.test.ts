import t from 'tap'
import { version } from '../../src/api/version.ts'
import { defaultUserAgent, userAgentOf } from '../../src/client/user-agent.ts'

const platform = `(${process.platform}/${process.arch})`

t.test('the default user agent is Proreus', async (t) => {
  t.equal(defaultUserAgent(), `proreus/${version} ${platform}`)
})

t.test('the user agent of an operator starts with its name and version', async (t) => {
  t.equal(userAgentOf({ name: 'hello', version: '1.2.3' }), `hello/1.2.3 ${platform} proreus/${version}`)
  t.equal(userAgentOf({ name: 'hello' }), `hello/unknown ${platform} proreus/${version}`)
  t.equal(userAgentOf({ name: 'hello', version: undefined }), `hello/unknown ${platform} proreus/${version}`)
})
