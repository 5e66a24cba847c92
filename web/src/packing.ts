// Undoes what src/botz/view/packing.py does before a file is deflated: rows as differences from one another, their
// bytes sorted by weight.

const COMPONENTS: Readonly<Record<string, number>> = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4 };
/** Bytes of a number, by glTF's name of its kind. */
const BYTES: Readonly<Record<number, 2 | 4>> = { 5123: 2, 5125: 4, 5126: 4 };
const GLB_HEADER = 12;
const CHUNK_HEADER = 8;

interface Document {
  accessors?: { bufferView: number; type: string; componentType: number }[];
  bufferViews: { byteOffset: number; byteLength: number }[];
}

/** Rows of so many columns of numbers of `size` bytes, in the place of their differences. */
export function sumUp(bytes: Uint8Array, columns: number, size: 2 | 4): void {
  const rows = bytes.length / columns / size;
  const planes = bytes.slice();
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let column = 0; column < columns; column++) {
    let sum = 0;
    for (let row = 0; row < rows; row++) {
      for (let byte = 0; byte < size; byte++)
        sum = (sum + (planes[(column * size + byte) * rows + row]! << (8 * byte))) | 0;
      const place = (row * columns + column) * size;
      if (size === 2) numbers.setUint16(place, sum & 0xffff, true);
      else numbers.setInt32(place, sum, true);
    }
  }
}

/** The arrays of a GLB, in the place of their differences. */
export function sumUpGlb(glb: Uint8Array): void {
  const length = new DataView(glb.buffer, glb.byteOffset).getUint32(GLB_HEADER, true);
  const text = GLB_HEADER + CHUNK_HEADER;
  const document = JSON.parse(new TextDecoder().decode(glb.subarray(text, text + length))) as Document;
  const start = text + length + CHUNK_HEADER;
  for (const { bufferView, type, componentType } of document.accessors ?? []) {
    const { byteOffset, byteLength } = document.bufferViews[bufferView]!;
    const part = glb.subarray(start + byteOffset, start + byteOffset + byteLength);
    sumUp(part, COMPONENTS[type]!, BYTES[componentType]!);
  }
}
