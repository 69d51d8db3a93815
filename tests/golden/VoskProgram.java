// SPDX-License-Identifier: Apache-2.0
// VoskProgram BUNDLE RECORDING.wav recognises a recording as Vosk's Java binding does, by JNA's direct mapping, and prints its words.
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.FileInputStream;
import java.io.InputStream;

public class VoskProgram {
  static {
    Native.register(VoskProgram.class, "vosk");
  }

  static native void vosk_set_log_level(int level);
  static native Pointer vosk_model_new(String path);
  static native void vosk_model_free(Pointer model);
  static native Pointer vosk_recognizer_new(Pointer model, float sampleRate);
  static native void vosk_recognizer_free(Pointer recognizer);
  static native boolean vosk_recognizer_accept_waveform(Pointer recognizer, byte[] data, int length);
  static native String vosk_recognizer_result(Pointer recognizer);
  static native String vosk_recognizer_final_result(Pointer recognizer);

  private static String textOf(String json) {
    int begin = json.indexOf("\"text\" : \"") + 10;
    return json.substring(begin, json.indexOf('"', begin));
  }

  public static void main(String[] arguments) throws Exception {
    vosk_set_log_level(-1);
    Pointer model = vosk_model_new(arguments[0]);
    Pointer recognizer = vosk_recognizer_new(model, 16000);
    StringBuilder text = new StringBuilder();
    try (InputStream recording = new FileInputStream(arguments[1])) {
      recording.skip(44);
      byte[] buffer = new byte[4096];
      for (int n = recording.read(buffer); n >= 0; n = recording.read(buffer)) {
        if (vosk_recognizer_accept_waveform(recognizer, buffer, n)) text.append(textOf(vosk_recognizer_result(recognizer))).append(' ');
      }
    }
    text.append(textOf(vosk_recognizer_final_result(recognizer)));
    System.out.println(text.toString().trim());
    vosk_recognizer_free(recognizer);
    vosk_model_free(model);
  }
}
