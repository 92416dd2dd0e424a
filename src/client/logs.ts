/** `readLines`: the lines of a container's logs. */
import { LineSplitter } from './line-splitter.ts'

/** Yields the lines of a stream of UTF-8 text, without their newlines. Bytes that are not UTF-8 become U+FFFD. */
export async function* readLines(stream: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const lines = new LineSplitter(undefined, { keepsEmpty: true })
  for await (const chunk of stream) {
    for (const line of lines.push(chunk)) yield line.toString('utf8')
  }
  const rest = lines.end()
  if (rest.length > 0) yield rest.toString('utf8')
}
